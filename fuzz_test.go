package assay

import "testing"

// What a condition prints reads back as the same condition.
func FuzzParseCondition(f *testing.F) {
	for _, s := range []string{
		"load1 < 4 patience 2m", "mean(rtt(share)) > 100ms over 5s", "mode == 'compiled'", "span >= 1000 * clock_tick",
		"resident(corpus-{tier}) < 5% patience 5m", "p99.9(response_time) <= 1.5s", "errors < 1%", "agree(bytes, wire) <= 1%",
		"a != 'it''s'", `a == "x"`, "a >= 1 * b(c)", "rss_peak(api) < 2 GiB", "a < -1e3/s over 90s patience 1500ms", "a<4", "a == ''", "a == 'x over 5s'",
		"x == 'a' patience 3m", "a < 1 over 0.5s", "a < 1e400", "a(b < c) > 2", "p99(a)(b) < 1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCondition(s)
		if err != nil {
			return
		}
		printed := c.String()
		again, err := ParseCondition(printed)
		if err != nil {
			t.Fatalf("ParseCondition(%q) prints %q, which does not read back: %v", s, printed, err)
		}
		if again != c {
			t.Errorf("ParseCondition(%q) = %+v, and printed and read back %+v", s, c, again)
		}
	})
}

// What an expectation prints reads back as one that allows the same values.
func FuzzParseExpectation(f *testing.F) {
	for _, s := range []string{"> 1.05", "<= 4", "2.3GiB..2.7GiB", "-5ms..5ms", "1..2s", "== 0", "!= 5%", ">1e3/s", "1...2", "..", "< 1 ..2", "1..1..\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseExpectation(s)
		if err != nil {
			return
		}
		printed := e.String()
		again, err := ParseExpectation(printed)
		if err != nil {
			t.Fatalf("ParseExpectation(%q) prints %q, which does not read back: %v", s, printed, err)
		}
		if again != e {
			t.Errorf("ParseExpectation(%q) = %+v, and printed and read back %+v", s, e, again)
		}
		if !e.IsRange && e.Allows(e.Bound.Base(), Unit{Scale: 1}) != (e.Op == LessEq || e.Op == GreaterEq || e.Op == Equal) && !e.Bound.Bare {
			t.Errorf("ParseExpectation(%q) and its own bound disagree", s)
		}
	})
}

// What a quantity prints reads back as the same quantity.
func FuzzParseQuantity(f *testing.F) {
	for _, s := range []string{"100ms", "2.5 GiB", "3/s", "5%", "1e3", "-1.5", "+.5s", "64KiB", "1 files/s", "5 B/op", "1e", "0x10", "1_000", "µs", "1µs", "1..2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := ParseQuantity(s)
		if err != nil {
			return
		}
		again, err := ParseQuantity(q.String())
		if err != nil || again != q {
			t.Errorf("ParseQuantity(%q) = %+v, and printed and read back %+v, %v", s, q, again, err)
		}
		if !q.Unit.Compatible(q.Unit) {
			t.Errorf("%q does not compare with itself", s)
		}
	})
}

// What a template prints reads back as the same template, names and text alike.
func FuzzParseTemplate(f *testing.F) {
	for _, s := range []string{"", "plain", "{reader}", "--n={n}/{m}", `{"a":1}`, "${X}", "$${X}", `\d{3}`, "{{literal}}", "{{{n}}}", "}}{{", "{a b}", "{", "{{", "{n}}", "a$", "{n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tm := ParseTemplate(s)
		again := ParseTemplate(tm.String())
		names, same := tm.Names(), again.Names()
		if len(names) != len(same) {
			t.Fatalf("ParseTemplate(%q) prints %q with the names %q, and reads back %q", s, tm.String(), names, same)
		}
		values := map[string]string{}
		for i, name := range names {
			if same[i] != name {
				t.Errorf("ParseTemplate(%q): name %d is %s, and read back %s", s, i, name, same[i])
			}
			values[name] = "$<" + name + ">"
		}
		a, errA := tm.Expand(values)
		b, errB := again.Expand(values)
		if a != b || errA != nil || errB != nil {
			t.Errorf("ParseTemplate(%q) expands to %q (%v), and printed and read back to %q (%v)", s, a, errA, b, errB)
		}
		if c, err := tm.Fill(values).Expand(nil); c != a || err != nil {
			t.Errorf("ParseTemplate(%q) filled and expanded is %q (%v), want %q", s, c, err, a)
		}
	})
}
