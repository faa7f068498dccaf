package engine

import "syscall"

// changed is when a file's content and its inode were changed last.
func changed(st *syscall.Stat_t) (content, inode syscall.Timespec) {
	return st.Mtimespec, st.Ctimespec
}
