package machine

import (
	"path/filepath"
	"strings"
)

// container names the container runtime that left its mark; empty outside one.
func (r root) container() string {
	for _, c := range []struct{ path, name string }{
		{".dockerenv", "docker"}, {"run/.containerenv", "podman"}, {"var/run/secrets/kubernetes.io/serviceaccount/namespace", "kubernetes"},
	} {
		if matches, _ := filepath.Glob(filepath.Join(string(r), c.path)); len(matches) > 0 {
			return c.name
		}
	}
	return ""
}

// groupLimits are the limits that control groups put on this process: processor quota, memory and
// cores, and which version of the interface they come from. The tightest limit on the way up counts.
func (r root) groupLimits() map[string]string {
	fp := map[string]string{}
	membership, ok := r.text("proc/self/cgroup")
	if !ok {
		return fp
	}
	if status, ok := r.text("proc/self/status"); ok {
		for line := range strings.Lines(status) {
			if v, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				fp["cpus_allowed"] = strings.TrimSpace(v)
			}
		}
	}
	v1, v2 := false, false
	for line := range strings.Lines(membership) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[1] == "" {
			v2 = true
			r.limitsV2(fp, parts[2])
			continue
		}
		v1 = v1 || !strings.HasPrefix(parts[1], "name=")
		r.limitsV1(fp, strings.Split(parts[1], ","), parts[2])
	}
	switch {
	case v1 && v2:
		fp["cgroup"] = "hybrid"
	case v1:
		fp["cgroup"] = "v1"
	case v2:
		fp["cgroup"] = "v2"
	}
	return fp
}

const groupRoot = "sys/fs/cgroup"

// upwards is every folder from a group's own up to its root, nearest first. Inside a container the
// path of the membership may lie outside what is mounted; the root then stands for it.
func upwards(mount, path string) []string {
	var list []string
	for p := filepath.Clean("/" + path); ; p = filepath.Dir(p) {
		list = append(list, filepath.Join(mount, p))
		if p == "/" {
			return list
		}
	}
}

func (r root) limitsV2(fp map[string]string, path string) {
	mount := groupRoot
	if _, ok := r.text(groupRoot + "/cgroup.controllers"); !ok {
		mount = groupRoot + "/unified"
	}
	for _, dir := range upwards(mount, path) {
		if v, ok := r.text(dir + "/cpu.max"); ok && fp["cgroup_cpu_quota"] == "" && !strings.HasPrefix(v, "max") {
			fp["cgroup_cpu_quota"] = plain(v)
		}
		if v, ok := r.text(dir + "/memory.max"); ok && fp["cgroup_memory_bytes"] == "" && v != "max" {
			fp["cgroup_memory_bytes"] = v
		}
	}
}

func (r root) limitsV1(fp map[string]string, controllers []string, path string) {
	for _, c := range controllers {
		for _, dir := range upwards(groupRoot+"/"+c, path) {
			switch c {
			case "cpu":
				quota, _ := r.text(dir + "/cpu.cfs_quota_us")
				period, _ := r.text(dir + "/cpu.cfs_period_us")
				if quota != "" && !strings.HasPrefix(quota, "-") && fp["cgroup_cpu_quota"] == "" {
					fp["cgroup_cpu_quota"] = quota + " " + period
				}
			case "memory":
				// The kernel prints "no limit" as a page-rounded 2^63-1, which has 19 digits.
				v, _ := r.text(dir + "/memory.limit_in_bytes")
				if v != "" && len(v) < 19 && fp["cgroup_memory_bytes"] == "" {
					fp["cgroup_memory_bytes"] = v
				}
			}
		}
	}
}
