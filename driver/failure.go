package driver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/assaybench/assay/load"
)

// failure gives an error of the network the class that says whose doing it was. What fits nowhere
// gets the fallback.
func failure(err error, fallback load.Class) error {
	var f *load.Failure
	if errors.As(err, &f) {
		return err
	}
	return load.Fail(classify(err, fallback), err)
}

func classify(err error, fallback load.Class) load.Class {
	var name *net.DNSError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return load.TimedOut
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return load.Descriptors
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EADDRINUSE):
		return load.Ports
	case errors.As(err, &name):
		return load.DNS
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return load.Refused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return load.Reset
	case isTLS(err):
		return load.TLS
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return load.Closed
	}
	return fallback
}

// isTLS reports whether err is about encryption rather than about the connection under it.
func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verify) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}
