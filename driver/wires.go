package driver

import (
	"context"
	"time"

	"github.com/assaybench/assay/load"
)

// staleAfter is how long a connection may have idled before it is asked whether the server has
// closed it meanwhile. Asking costs a system call; not asking, a failed operation.
const staleAfter = 500 * time.Millisecond

// Wires are the HTTP/1.1 connections of a driver to one host, opened on demand and lent to one
// operation at a time.
type wires struct {
	dial *dialer
	pool pool[*conn]
}

// lay makes the wires ready; most bounds the connections, 0 does not.
func (w *wires) lay(d *dialer, most int) {
	w.dial = d
	w.pool.most = most
	w.pool.open = w.connect
}

// connect opens a connection.
func (w *wires) connect(ctx context.Context, op *load.Operation) (*conn, error) {
	nc, err := w.dial.connect(ctx, op)
	if err != nil {
		return nil, err
	}
	if w.dial.remotes.several() {
		w.pool.takeTurns(func(cn *conn) int64 { return cn.remote.operations.Load() })
	}
	cn := newConn(nc)
	cn.remote = w.dial.remotes.of(nc)
	return cn, nil
}

// borrow takes a connection that is still open.
func (w *wires) borrow(ctx context.Context, op *load.Operation) (*conn, bool, error) {
	for {
		cn, fresh, waited, err := w.pool.take(ctx, op)
		if err != nil {
			return nil, false, err
		}
		if waited {
			op.Send()
		}
		if fresh {
			cn.attach(ctx)
			return cn, true, nil
		}
		if op.Deadline().Sub(cn.lastUsed) < staleAfter || !cn.gone() {
			return cn, false, nil
		}
		w.giveBack(cn, false)
	}
}

// giveBack returns a connection to the pool, or closes it.
func (w *wires) giveBack(cn *conn, usable bool) {
	if usable && w.pool.give(cn) {
		return
	}
	cn.shut()
	if !usable {
		w.pool.drop()
	}
}

// Connections counts the connections.
func (w *wires) Connections() load.Connections {
	return w.dial.remotes.into(w.pool.connections())
}

// Close closes them.
func (w *wires) Close() error {
	for _, cn := range w.pool.empty() {
		cn.shut()
	}
	return nil
}
