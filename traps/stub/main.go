// Command stub is the server of the traps as a program of its own, for tools that are tried on the
// same situations. It prints its address and serves until it is ended.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/assaybench/assay/traps"
)

func main() {
	var s traps.Stub
	address := flag.String("address", "127.0.0.1:0", "loopback `address` to listen at")
	flag.DurationVar(&s.Service, "service", 0, "service time of one request")
	flag.IntVar(&s.Slots, "slots", 0, "requests served at once; 0: all of them")
	flag.DurationVar(&s.Freeze, "freeze", 0, "stand still from this time since the first request")
	flag.DurationVar(&s.Thaw, "thaw", 0, "until this time")
	flag.Float64Var(&s.Shed, "shed", 0, "share of requests answered by 429")
	flag.Float64Var(&s.Hang, "hang", 0, "share of requests never answered")
	flag.Parse()
	l, err := net.Listen("tcp", *address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(l, &s))
	os.Exit(1)
}
