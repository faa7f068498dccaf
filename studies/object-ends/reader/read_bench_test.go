package reader

import (
	"fmt"
	"io"
	"testing"

	"github.com/assaybench/assay/studies/object-ends/store"
)

// BenchmarkRead reads 300 small objects from versitygw, a process of its own, so that a profile shows the
// reader alone.
func BenchmarkRead(b *testing.B) {
	if _, err := store.GatewayPath(); err != nil {
		b.Skip("versitygw:", err)
	}
	s := fill(b, gateway(b), 300)
	for _, inflight := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("inflight=%d", inflight), func(b *testing.B) {
			for b.Loop() {
				setting := flagged(b, "--endpoint", s.endpoint, "--bucket", "corpus-small", "--inflight", fmt.Sprint(inflight))
				if err := Read(b.Context(), setting, io.Discard, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(300*float64(b.N)/b.Elapsed().Seconds(), "files/s")
		})
	}
}
