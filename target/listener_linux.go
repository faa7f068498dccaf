package target

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// port is the port that the service listens on; 0 if nobody said.
func (s Spec) port() int {
	switch {
	case s.Port != 0:
		return s.Port
	case s.External != nil && s.External.Port != 0:
		return s.External.Port
	case s.Ready.TCP != "":
		return portOf(s.Ready.TCP)
	}
	u, err := url.Parse(s.Ready.HTTP)
	if err != nil || u.Host == "" {
		return 0
	}
	if u.Port() == "" {
		return map[string]int{"http": 80, "https": 443}[u.Scheme]
	}
	return portOf(u.Host)
}

func portOf(hostPort string) int {
	_, text, err := net.SplitHostPort(hostPort)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(text)
	return n
}

// sockets are the inodes of the TCP sockets that listen on the port, ascending.
func sockets(port int) []string {
	var inodes []string
	for _, one := range []struct {
		family byte
		table  string
	}{{unix.AF_INET, "/proc/net/tcp"}, {unix.AF_INET6, "/proc/net/tcp6"}} {
		some, err := asked(one.family, port)
		if err != nil { // a kernel without sock_diag
			some = listening(one.table, port)
		}
		inodes = append(inodes, some...)
	}
	slices.Sort(inodes)
	return inodes
}

// listening reads one table. The kernel lists listening sockets before all others (tcp_seq_start in
// net/ipv4/tcp_ipv4.c), so that a table of many thousand connections need not be read to its end.
func listening(table string, port int) []string {
	const listen = "0A"
	f, err := os.Open(table)
	if err != nil {
		return nil
	}
	defer f.Close()
	var inodes []string
	suffix := fmt.Sprintf(":%04X", port)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 10 || words[0] == "sl" {
			continue
		}
		if words[3] != listen {
			break
		}
		if strings.HasSuffix(words[1], suffix) {
			inodes = append(inodes, words[9])
		}
	}
	return inodes
}

// holder is the oldest of the processes that has one of the sockets open; false if none has.
func holder(among []process, inodes []string) (process, bool) {
	var oldest process
	found := false
	for _, p := range among {
		if (!found || p.born < oldest.born || p.born == oldest.born && p.pid < oldest.pid) && p.holds(inodes) {
			oldest, found = p, true
		}
	}
	return oldest, found
}

// holds reports whether p has one of the sockets open.
func (p process) holds(inodes []string) bool {
	folder := "/proc/" + strconv.Itoa(p.pid) + "/fd"
	dir, err := os.Open(folder)
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		link, err := os.Readlink(folder + "/" + name)
		if err != nil {
			continue
		}
		inode, ok := strings.CutPrefix(link, "socket:[")
		if ok && slices.Contains(inodes, strings.TrimSuffix(inode, "]")) {
			return true
		}
	}
	return false
}

// program is what p executes, for people.
func (p process) program() string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/cmdline")
	words := strings.Split(string(raw), "\x00")
	if err != nil || words[0] == "" {
		return "?"
	}
	return words[0]
}
