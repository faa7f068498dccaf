package spec

// Nearest is the known name that is closest to a mistyped one; empty if none is close.
func Nearest(got string, known []string) string {
	name, ok := nearest(got, known)
	if !ok {
		return ""
	}
	return name
}
