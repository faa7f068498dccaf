package telemetry

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A groupMount is where a hierarchy of control groups is mounted, and which of its groups stands there.
type groupMount struct {
	point string
	group string // "/" but in containers without a namespace of their own
}

// groupMounts are all hierarchies, by controller; "" is version 2.
type groupMounts map[string]groupMount

// parseGroupMounts reads /proc/PID/mountinfo (proc_pid_mountinfo(5)).
func parseGroupMounts(b []byte) groupMounts {
	m := groupMounts{}
	for line := range bytes.Lines(b) {
		if !bytes.Contains(line, []byte(" - cgroup")) {
			continue // container hosts have thousands of mounts
		}
		left, right, ok := strings.Cut(string(line), " - ")
		if !ok {
			continue
		}
		mount, super := strings.Fields(left), strings.Fields(right)
		if len(mount) < 5 || len(super) < 3 {
			continue
		}
		at := groupMount{point: unescapeMount(mount[4]), group: unescapeMount(mount[3])}
		switch super[0] {
		case "cgroup2":
			m[""] = at
		case "cgroup":
			for option := range strings.SplitSeq(super[2], ",") {
				m[option] = at // options that are no controller ("rw") are never asked for
			}
		}
	}
	return m
}

// unescapeMount undoes the octal escapes of blanks, tabs, line ends and backslashes.
func unescapeMount(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// parseMembership reads /proc/PID/cgroup: controller to path, "" for version 2.
func parseMembership(b []byte) map[string]string {
	m := map[string]string{}
	for line := range bytes.Lines(b) {
		parts := strings.SplitN(strings.TrimSuffix(string(line), "\n"), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		for c := range strings.SplitSeq(parts[1], ",") {
			m[c] = parts[2]
		}
	}
	return m
}

// folder is where the group of a path is in the file system; ok is false outside of what is mounted.
func (m groupMounts) folder(r root, controller, group string) (dir string, ok bool) {
	at, ok := m[controller]
	if !ok {
		return "", false
	}
	rel := group
	if at.group != "/" {
		if rel, ok = strings.CutPrefix(group, at.group); !ok || rel != "" && rel[0] != '/' {
			// The process sees only its own corner, which is mounted as the whole.
			rel = "/"
		}
	}
	if strings.Contains(rel, "/..") {
		return "", false
	}
	return r.path(at.point, path.Clean("/"+rel)), true
}

// A group is the control groups of one process, or one that was named: a folder for each controller
// and the version of the interface that it speaks.
type group struct {
	mounts  groupMounts
	dirs    map[string]string // controller ("cpu", "memory", "cpuacct", "io", …) to folder
	version map[string]int
}

// groupOf finds the control groups of a process. A controller that is on version 2 is preferred;
// the folder of version 2 itself is under "".
func groupOf(r root, m groupMounts, pid int) (group, error) {
	b, err := r.read("proc", fmt.Sprint(pid), "cgroup")
	if err != nil {
		return group{}, fmt.Errorf("find control group of process %d: %w", pid, err)
	}
	return locate(r, m, parseMembership(b)), nil
}

// namedGroup is the control group of a path below the hierarchies' roots, or of a folder.
func namedGroup(r root, m groupMounts, name string) group {
	membership := map[string]string{}
	for c, at := range m {
		rel, below := strings.CutPrefix(name, at.point+"/")
		if !below && filepath.IsAbs(name) && strings.HasPrefix(name, "/sys/") {
			continue
		}
		if !below {
			rel = name
		}
		membership[c] = "/" + strings.TrimPrefix(rel, "/")
	}
	g := locate(r, m, membership)
	for c, dir := range g.dirs {
		if _, err := filepath.EvalSymlinks(dir); err != nil {
			delete(g.dirs, c)
			delete(g.version, c)
		}
	}
	return g
}

func locate(r root, m groupMounts, membership map[string]string) group {
	g := group{mounts: m, dirs: map[string]string{}, version: map[string]int{}}
	for _, c := range slices.Sorted(maps.Keys(membership)) {
		if dir, ok := m.folder(r, c, membership[c]); ok {
			g.dirs[c] = dir
			g.version[c] = 1
		}
	}
	unified, ok := g.dirs[""]
	if !ok {
		return g
	}
	g.version[""] = 2
	controllers, err := root("").read(unified, "cgroup.controllers")
	if err != nil {
		return g
	}
	for c := range bytes.FieldsSeq(controllers) {
		g.dirs[string(c)], g.version[string(c)] = unified, 2
	}
	return g
}

// upwards is the group's folder for a controller and those above it, nearest first: a quota binds
// all that is below it.
func (g group) upwards(r root, controller string) []string {
	dir, ok := g.dirs[controller]
	at := controller
	if !ok || g.version[controller] == 2 {
		at = ""
	}
	if !ok {
		// On version 2 a group whose parent hands the controller on to none below has no files of it, and is
		// bound by those above all the same.
		if dir, ok = g.dirs[""]; !ok {
			return nil
		}
	}
	top := r.path(g.mounts[at].point)
	var list []string
	for ; ; dir = filepath.Dir(dir) {
		list = append(list, dir)
		if dir == top || len(dir) <= len(top) {
			return list
		}
	}
}
