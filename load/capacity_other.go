//go:build !linux

package load

// capacity knows only a number that every desktop system allows.
func capacity(connections bool) (most int, by string) {
	if connections {
		return 4096, "descriptors"
	}
	return 1 << 20, "memory"
}
