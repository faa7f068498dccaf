package target

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// Of struct inet_diag_req_v2 and inet_diag_msg (linux/inet_diag.h).
const (
	sockDiagByFamily = 20
	diagRequestSize  = 56
	diagMessageSize  = 72
	diagPort         = 4  // of the local end, in network order
	diagInode        = 68 // in the machine's
	tcpListen        = 10
)

// asked are the inodes of the sockets of a family that listen on the port, by netlink (sock_diag(7)).
// The kernel looks at its listeners alone for it; for /proc/net/tcp it goes on through its whole table
// of connections, which takes 5 ms where that is sized for much memory.
func asked(family byte, port int) ([]string, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return nil, fmt.Errorf("ask for listeners: %w", err)
	}
	defer unix.Close(fd)
	request := make([]byte, unix.NLMSG_HDRLEN+diagRequestSize)
	order := binary.NativeEndian
	order.PutUint32(request[0:], uint32(len(request)))
	order.PutUint16(request[4:], sockDiagByFamily)
	order.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := request[unix.NLMSG_HDRLEN:]
	body[0], body[1] = family, unix.IPPROTO_TCP
	order.PutUint32(body[4:], 1<<tcpListen)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, fmt.Errorf("ask for listeners: %w", err)
	}
	var inodes []string
	for b := make([]byte, 32<<10); ; {
		n, _, err := unix.Recvfrom(fd, b, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("ask for listeners: %w", err)
		}
		more, err := diagMessages(b[:n], port, &inodes)
		if err != nil || !more {
			return inodes, err
		}
	}
}

// diagMessages reads one answer; more says that another one follows.
func diagMessages(b []byte, port int, inodes *[]string) (more bool, err error) {
	order := binary.NativeEndian
	for len(b) >= unix.NLMSG_HDRLEN {
		length := int(order.Uint32(b))
		if length < unix.NLMSG_HDRLEN || length > len(b) {
			return false, fmt.Errorf("ask for listeners: a message of %d bytes in %d", length, len(b))
		}
		body := b[unix.NLMSG_HDRLEN:length]
		switch order.Uint16(b[4:]) {
		case unix.NLMSG_DONE:
			return false, nil
		case unix.NLMSG_ERROR:
			if len(body) < 4 {
				return false, errors.New("ask for listeners: an error without its number")
			}
			return false, fmt.Errorf("ask for listeners: %w", unix.Errno(-int32(order.Uint32(body))))
		case sockDiagByFamily:
			if len(body) >= diagMessageSize && int(binary.BigEndian.Uint16(body[diagPort:])) == port {
				*inodes = append(*inodes, strconv.FormatUint(uint64(order.Uint32(body[diagInode:])), 10))
			}
		}
		b = b[min((length+unix.NLMSG_ALIGNTO-1)/unix.NLMSG_ALIGNTO*unix.NLMSG_ALIGNTO, len(b)):]
	}
	return true, nil
}
