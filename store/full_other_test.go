//go:build !linux

package store_test

// fillDisk is the child of a test that needs a mount namespace, and is never started here.
func fillDisk(string) int { return 77 }
