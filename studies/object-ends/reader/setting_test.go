package reader

import (
	"flag"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// defaults returns the setting of no flags.
func defaults(t *testing.T) *Setting {
	t.Helper()
	return flagged(t)
}

// flagged returns the setting of those flags.
func flagged(t testing.TB, args ...string) *Setting {
	t.Helper()
	var setting Setting
	flags := flag.NewFlagSet("read", flag.ContinueOnError)
	setting.Flags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &setting
}

func TestImpossibleSettingsAreNamed(t *testing.T) {
	if err := defaults(t).Check(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for args, want := range map[string]string{
		"--read=half":                 `--read: got "half", want whole or ends`,
		"--sizes=guess":               "--sizes",
		"--fetch=random":              "--fetch",
		"--schema=none":               "--schema",
		"--fault=some":                "--fault",
		"--inflight=0":                "--inflight: got 0, want at least 1",
		"--buffer=0":                  "--buffer",
		"--pool=-1":                   "--pool",
		"--throttle=-1s":              "--throttle",
		"--writers=0":                 "--writers",
		"--processes=0":               "--processes",
		"--passes=0":                  "--passes",
		"--limit=-1":                  "--limit",
		"--readahead=-1":              "--readahead",
		"--parts=2 --part=2":          "--part: got 2, want 0 to 1",
		"--processes=2 --writers=2":   "--processes: goes with neither",
		"--inflight=0 --buffer=0":     "--buffer", // both are named, whichever comes first
		"--buffer=0 --inflight=0":     "--inflight",
		"--processes=2 --parts=2":     "--processes",
		"--fault=none --schema=heavy": "scalar or full",
	} {
		err := flagged(t, strings.Fields(args)...).Check()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", args, err, want)
		}
	}
}

// What a slice's process is told is the whole setting.
func TestArgumentsMakeTheSettingAgain(t *testing.T) {
	setting := flagged(t, strings.Fields("--endpoint=http://h:1 --bucket=corpus-small --access-key=a --secret-key=b --seed=7 "+
		"--read=whole --sizes=head --fetch=serial --inflight=3 --pool=5 --buffer=9 --throttle=2ms --schema=full --writers=2 "+
		"--processes=1 --passes=3 --limit=11 --readahead=13 --out=o.parquet --fault=skip-rows --progress --part=1 --parts=4")...)
	if difference := cmp.Diff(setting, flagged(t, setting.arguments()...)); difference != "" {
		t.Error(difference)
	}
}

func TestQuantiles(t *testing.T) {
	hundred := make([]int64, 100)
	for i := range hundred {
		hundred[i] = int64(i + 1)
	}
	for _, tc := range []struct {
		values []int64
		q      float64
		want   int64
	}{
		{nil, 0.5, 0}, {[]int64{7}, 0.99, 7}, {[]int64{7}, 0, 7}, {hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100},
		{[]int64{1, 2, 3}, 0.5, 2},
	} {
		if got := quantile(tc.values, tc.q); got != tc.want {
			t.Errorf("quantile %v of %d values: got %d, want %d", tc.q, len(tc.values), got, tc.want)
		}
	}
}

// A gauge weighs levels by the time they lasted, not by how often they were reached.
func TestGaugesWeighByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gauge
		g.add(1)
		time.Sleep(96 * time.Second)
		for range 3 {
			g.add(1)
		}
		time.Sleep(4 * time.Second)
		for range 3 {
			g.add(-1)
		}
		g.add(-1)
		if g.peak() != 4 || g.within(0.95) != 1 || g.within(0.97) != 4 {
			t.Errorf("got peak %d, within 95%% %d, within 97%% %d; want 4, 1, 4", g.peak(), g.within(0.95), g.within(0.97))
		}
	})
}

func TestTalliesAddUp(t *testing.T) {
	first := Tally{
		Files: 2, Wall: 1e9, InFlightPeak: 3, RowsPeak: 5, RSSPeak: 7, Get: 4, Flushes: 1, FlushMean: 10,
		Gets: []int64{4, 1}, Depth: []Depth{{At: 50, Rows: 1}}, Fill: 60, Drain: 40,
	}
	second := Tally{
		Files: 3, Wall: 2e9, InFlightPeak: 4, RowsPeak: 2, RSSPeak: 9, Get: 6, Flushes: 3, FlushMean: 50,
		Gets: []int64{3, 2}, Depth: []Depth{{At: 50, Rows: 2}}, Fill: 150, Drain: 50,
	}
	var after, beside Tally
	after.add(first)
	after.add(second)
	after.settle()
	want := Tally{
		Files: 5, Wall: 3e9, Rate: 5.0 / 3, InFlightPeak: 4, RowsPeak: 5, RSSPeak: 9, Get: 10, Flushes: 4, FlushMean: 40,
		Gets: []int64{1, 2, 3, 4}, Depth: []Depth{{50, 1}, {1e9 + 50, 2}}, Fill: 210, Drain: 90,
		GetP50: 2, GetP95: 4, GetP99: 4, GetMax: 4,
	}
	if difference := cmp.Diff(want, after); difference != "" {
		t.Error("one after the other:", difference)
	}
	beside.join(first)
	beside.join(second)
	beside.settle()
	want.Wall, want.Rate, want.InFlightPeak, want.RowsPeak, want.RSSPeak = 0, 0, 7, 7, 16
	want.Depth, want.Fill, want.Drain = []Depth{{50, 3}}, 150, 50
	if difference := cmp.Diff(want, beside); difference != "" {
		t.Error("beside each other:", difference)
	}
}
