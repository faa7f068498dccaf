// Package driver carries out single operations: HTTP/1.1 and HTTP/2 requests, operations on an object
// store that speaks S3, and lines to any program that answers on its standard output. A driver never times, paces, retries or counts; the
// generator in package load does. [New] is the one table of drivers.
//
// # Programs as drivers
//
// The process driver is the plug-in system. The program gets the index of each operation as a line
// on its standard input, and answers with one line: "ok", or a class of failure (refused reset
// closed dns tls shed status wrong protocol timed_out) with a remark. It flushes its output after
// each answer and ends when its input does. It serves one operation at a time; for several in
// flight there are several processes of it. In the shell:
//
//	while read n; do
//	  if test $((n % 3)) -eq 2; then echo wrong number $n; else echo ok; fi
//	done
//
// and in Python:
//
//	import sys
//	for line in sys.stdin:
//	    n = int(line)
//	    print("ok" if n % 3 != 2 else "wrong number %d" % n, flush=True)
//
// # Adding a driver
//
// A driver is one type with the three methods of [load.Driver], a case in [New], and a line in the
// suite of conformance_test.go, which says what is asked of it: every operation arrives once,
// failures are told apart and never repeated, the deadline and the context end what is under way.
package driver

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

// New is the driver that a load names. values fill what is left in its templates ({block},
// {trial}, {seed}); {operation} stays open and is the index of the operation. seed decides which
// bodies a weighted mix sends, and nothing else.
func New(l assay.Load, values map[string]string, seed uint64) (load.Driver, error) {
	switch name(l) {
	case "http":
		if l.HTTP == nil {
			return nil, fmt.Errorf("driver http: want its url")
		}
		return newHTTP(*l.HTTP, values, seed)
	case "s3":
		if l.S3 == nil {
			return nil, fmt.Errorf("driver s3: want its endpoint and bucket")
		}
		return newS3(*l.S3, values, seed)
	case "process":
		if l.Process == nil {
			return nil, fmt.Errorf("driver process: want its command")
		}
		return newProcess(*l.Process, values)
	}
	return nil, fmt.Errorf("driver %q: want http, s3 or process", l.Driver)
}

// name is the driver's name; where the file only has the block of one, that block names it.
func name(l assay.Load) string {
	switch {
	case l.Driver != "":
		return l.Driver
	case l.HTTP != nil:
		return "http"
	case l.S3 != nil:
		return "s3"
	case l.Process != nil:
		return "process"
	}
	return ""
}

// operationName is the template name that stays open until an operation is carried out.
const operationName = "operation"

// fill replaces values in t and reports whether {operation} is left in it. Any other name that is
// left is an error: it would be sent as it stands.
func fill(t assay.Template, values map[string]string) (filled assay.Template, open bool, err error) {
	filled = t.Fill(values)
	for _, n := range filled.Names() {
		if n != operationName {
			known := append(slices.Sorted(maps.Keys(values)), operationName)
			return filled, false, fmt.Errorf("expand {%s}: want one of %s", n, strings.Join(known, ", "))
		}
		open = true
	}
	return filled, open, nil
}

// allow refuses a host that is not this machine, unless the load names it. Load goes where it was
// meant to go or nowhere.
func allow(host string, allowed []string) error {
	if loopback(host) || slices.Contains(allowed, host) {
		return nil
	}
	return fmt.Errorf("host %s: not this machine and not allowed; name it under allow_hosts, or with --allow-host %s", host, host)
}

// loopback reports whether a host is this machine by its name or address alone.
func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
