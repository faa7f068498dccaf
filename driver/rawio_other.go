//go:build !linux

package driver

import "syscall"

func rawWrite(fd int, b []byte) (int, error) { return syscall.Write(fd, b) }

func rawRead(fd int, b []byte) (int, error) { return syscall.Read(fd, b) }
