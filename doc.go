// Package assay is the vocabulary of an experiment engine for performance claims.
//
// An experiment file declares what varies, what is held, what is predicted, what would make a
// measurement void and what must never happen to a shared system. From there the work flows one way:
//
//  1. spec reads the file into an [Experiment]: every [Cell] with its [Setting], every [Hypothesis].
//  2. [NewPlan] orders the cells of every block by a seeded Williams square.
//  3. store registers the plan and the hypotheses before the first trial ([Registration]).
//  4. engine executes the trials one by one through target, load and driver, watched by telemetry,
//     and appends one [Trial] line each to the results folder.
//  5. grade reads the folder and says one [Verdict] a hypothesis.
//  6. report prints them.
//
// Measuring (1 to 4) and judging (5 and 6) meet only in the files of the results folder.
//
// # Glossary
//
// One name a thing; identifiers, messages and documents use these words and no others.
//
//	factor, level     what varies, and a value of it
//	term              one thing a level sets: the factor itself, or each name a bundled level lists under sets
//	cell              one combination of levels
//	setting           a cell with everything that follows from it: derived values, expanded command or load
//	block             one pass in which every cell is executed once (a randomized complete block)
//	trial             one execution of one cell: the unit of statistics
//	session           one host, one boot, one fingerprint; several processes may share it
//	operation         one request, read or produce inside a trial
//	intended, sent, done  the three times of an operation
//	response time     done - intended
//	service time      done - sent
//	lag               sent - intended
//	reading           one telemetry value at a time
//	measure           what turns a trial into one number: p99(response_time), rate, rss_peak(api)
//	open loop         arrivals follow a schedule, whatever the target does (Schroeder et al., NSDI 2006)
//	closed loop       a client sends its next operation when the last one is done
//	in flight         operations sent and not yet done
//	arrival rate      operations intended per second
//	ceiling           a physical or configured limit beside which a figure stands
//	condition         a measure, an operator and a bound
//	gate              a condition that must hold before a trial
//	kill rule         a condition that stops a trial while it holds over a window
//	guard             a condition judged after a trial; where it does not hold, the trial is void
//	hypothesis        a registered claim, judged after all trials
//	verdict           PASS, FAIL, UNDECIDED, UNTESTED or VOID, with a reason
//	outcome           how a trial ended: ok, failed, crashed, oom, hung, capped, killed, refused, interrupted
//	void              said of a trial that is kept and shown and not counted
//	registration      what was fixed before the first trial, and its dated amendments
//	look              a registered number of blocks after which verdicts are formed
//
// # Scope
//
// In: single-host experiments on commands and services, load generation, telemetry, grading, reports.
//
// Not in: histories over many commits, dashboards, alerting, distributed load.
package assay
