package telemetry

import "github.com/assaybench/assay"

// A slow sampler is read less often than the others of its watch: what it tells of changes slowly, or is
// a count of which nothing is lost between two reads, or costs the kernel much.
type slow struct {
	Sampler
	hz float64
}

// Local are the samplers that every trial is watched by: the machine and, as far as there are any,
// the objects' processes and control groups; and sockets if there is an object beside the generator
// already, since counting them takes the kernel long. objects is asked at every tick.
func Local(objects func() []Object) []Sampler {
	trees := &Trees{Objects: objects}
	list := []Sampler{
		&Processes{Trees: trees}, slow{&System{}, 5}, slow{&Stalls{}, 5}, slow{&Quotas{Trees: trees}, 1}, slow{&Devices{}, 2},
		slow{&Threads{Trees: trees}, 1}, slow{&Descriptors{Trees: trees}, 1}, slow{&SharedMemory{Trees: trees}, 0.2},
		slow{&Heat{}, 1}, slow{&Idle{}, 1}, slow{&NFS{}, 1},
	}
	targets := false
	for _, o := range objects() {
		list = append(list, slow{&Group{Object: o}, 2})
		targets = targets || o.Name != Generator
	}
	if targets {
		list = append(list, slow{&Connections{Trees: trees}, 1 / seldom.Seconds()})
	}
	return list
}

// Remote are the samplers that may hang: graphics processors, and the metrics of targets that were
// asked for.
func Remote(scrapes ...*Prometheus) []Sampler {
	list := []Sampler{&GPU{}}
	for _, p := range scrapes {
		list = append(list, p)
	}
	return list
}

// NewBystander is a declared probe with its prober opened. The caller closes the prober.
func NewBystander(p assay.Probe) (Bystander, error) {
	prober, err := NewProber(p)
	if err != nil {
		return Bystander{}, err
	}
	return Bystander{Name: p.Name, Prober: prober, Rate: p.Rate, Timeout: p.Timeout}, nil
}
