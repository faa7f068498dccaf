package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Gateway is the first store, as a Go package with its version: a program of its own that serves a folder.
const Gateway = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

// ErrNotInstalled says that the store's program is not in the cache yet.
var ErrNotInstalled = errors.New("not installed")

// GatewayPath returns where the store's program is kept: in the user's cache, by version. The error is
// ErrNotInstalled where it is not there.
func GatewayPath() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find versitygw: %w", err)
	}
	_, version, _ := strings.Cut(Gateway, "@")
	path := filepath.Join(cache, "assay-studies", "versitygw-"+version, "versitygw")
	if _, err := os.Stat(path); err != nil {
		return path, fmt.Errorf("find versitygw at %s: %w", path, ErrNotInstalled)
	}
	return path, nil
}

// InstallGateway builds the store's program into the cache, unless it is there, and returns its path. That
// takes several minutes of all processors; what the compiler says goes to progress.
func InstallGateway(ctx context.Context, progress io.Writer) (string, error) {
	path, err := GatewayPath()
	if !errors.Is(err, ErrNotInstalled) {
		return path, err
	}
	install := exec.CommandContext(ctx, "go", "install", Gateway)
	// Not in the folder of a module, whose go.mod would be asked.
	install.Dir = os.TempDir()
	install.Env = append(os.Environ(), "GOBIN="+filepath.Dir(path), "GOFLAGS=")
	install.Stdout, install.Stderr = progress, progress
	if err := install.Run(); err != nil {
		return "", fmt.Errorf("install versitygw: %w", err)
	}
	return path, nil
}

// gateway returns the arguments and the environment that serve a folder at an address.
//
// Two things are not the program's defaults: it would close each connection after one answer, and it
// would set 1 MiB aside for each answer, however short.
func gateway(path, address, folder string) (arguments, environment []string) {
	keys := StudyKeys()
	arguments = []string{path, "--port", address, "--quiet", "--keep-alive", "posix", "--io-buffer-size", "65536", folder}
	environment = append(os.Environ(), "ROOT_ACCESS_KEY="+keys.Access, "ROOT_SECRET_KEY="+keys.Secret)
	return arguments, environment
}

// BecomeGateway replaces this process by the store, so that who started this one measures the store and
// nothing else. It returns only on error.
func BecomeGateway(address, folder string) error {
	path, err := GatewayPath()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("serve folder: %w", err)
	}
	arguments, environment := gateway(path, address, folder)
	return fmt.Errorf("execute %s: %w", path, syscall.Exec(path, arguments, environment))
}

// StartGateway starts the store as a child that ends with this process, waits until it answers, and
// returns what ends it.
func StartGateway(ctx context.Context, address, folder string) (stop func(), err error) {
	path, err := GatewayPath()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("serve folder: %w", err)
	}
	arguments, environment := gateway(path, address, folder)
	command := exec.Command(path, arguments[1:]...)
	command.Env = environment
	var said strings.Builder
	command.Stdout, command.Stderr = &said, &said
	wait, err := StartTied(command)
	if err != nil {
		return nil, fmt.Errorf("start versitygw: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	if err := answers(ctx, address, ended); err != nil {
		_ = command.Process.Kill()
		return nil, fmt.Errorf("start versitygw: %w: %s", err, said.String())
	}
	return func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = command.Process.Kill()
			<-ended
		}
	}, nil
}

// answers waits until something listens at the address, the process has ended, or half a minute is over.
func answers(ctx context.Context, address string, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	dialer := net.Dialer{}
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case failure := <-ended:
			return errors.Join(errors.New("ended at once"), failure)
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", address, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
