# Writes r.json: values of base R, diptest and goftest for package stat's tests.
library(diptest)
library(goftest)
set.seed(20240229)

nums <- function(xs) paste0("[", paste(sprintf("%.17g", xs), collapse = ", "), "]")
num <- function(x) sprintf("%.17g", x)
row <- function(...) {
  fields <- list(...)
  paste0("{", paste0("\"", names(fields), "\": ", unlist(fields), collapse = ", "), "}")
}

dip <- c()
for (n in c(4, 12, 30, 100, 400)) {
  two <- ifelse(runif(n) < 0.5, rnorm(n), rnorm(n, 4))
  for (xs in list(runif(n), rnorm(n), rexp(n), two, round(rnorm(n), 1), round(two))) {
    t <- dip.test(xs)
    dip <- c(dip, row(xs = nums(xs), dip = num(t$statistic), p = num(t$p.value)))
  }
}

anderson <- c()
for (n in c(1, 2, 5, 20, 100, 500)) {
  for (xs in list(rexp(n, 3), rexp(n, 3.6), runif(n, 0, 2 / 3), rgamma(n, 2, 6))) {
    t <- ad.test(xs, "pexp", rate = 3)
    d <- ks.test(xs, "pexp", rate = 3)
    anderson <- c(anderson, row(xs = nums(xs), rate = 3, a = num(t$statistic), p = num(t$p.value), distance = num(d$statistic)))
  }
}

autocorrelation <- c()
for (n in c(3, 10, 60, 300)) for (rho in c(-0.5, 0, 0.8)) {
  xs <- as.numeric(stats::filter(rnorm(n), rho, "recursive"))
  autocorrelation <- c(autocorrelation, row(xs = nums(xs), rho = num(acf(xs, 1, plot = FALSE)$acf[2])))
}

isotonic <- c()
for (n in c(2, 9, 40)) {
  ys <- rnorm(n, seq_len(n) / 10)
  isotonic <- c(isotonic, row(ys = nums(ys), fit = nums(isoreg(ys)$yf)))
}

fisher <- c()
for (t in list(c(3, 1, 1, 3), c(0, 12, 5, 7), c(40, 60, 61, 39), c(3, 997, 15, 985), c(0, 4, 0, 5))) {
  fisher <- c(fisher, row(table = nums(t), p = num(fisher.test(matrix(t, 2, byrow = TRUE))$p.value)))
}

mann_whitney <- c()
for (m in c(2, 6, 15, 40)) {
  xs <- rnorm(m)
  ys <- rnorm(m + 3, 0.7)
  t <- wilcox.test(xs, ys, exact = TRUE)
  mann_whitney <- c(mann_whitney, row(xs = nums(xs), ys = nums(ys), u = num(t$statistic), p = num(t$p.value)))
}

tables <- list(dip = dip, anderson = anderson, autocorrelation = autocorrelation, isotonic = isotonic,
               fisher = fisher, mann_whitney = mann_whitney)
parts <- sapply(names(tables), function(name) paste0("\"", name, "\": [\n", paste(tables[[name]], collapse = ",\n"), "\n]"))
writeLines(paste0("{\n", paste(parts, collapse = ",\n"), "\n}"), "r.json")
