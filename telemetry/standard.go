package telemetry

import "github.com/assaybench/assay"

// Local are the samplers that every trial is watched by: the machine and, as far as there are any,
// the objects' processes and control groups; and sockets if there is an object beside the generator
// already, since counting them takes the kernel long. objects is asked at every tick.
func Local(objects func() []Object) []Sampler {
	trees := &Trees{Objects: objects}
	list := []Sampler{
		&System{}, &Stalls{}, &Processes{Trees: trees}, &Quotas{Trees: trees}, &Devices{}, &Threads{Trees: trees},
		&Descriptors{Trees: trees}, &SharedMemory{Trees: trees}, &Heat{}, &Idle{}, &NFS{},
	}
	targets := false
	for _, o := range objects() {
		list = append(list, &Group{Object: o})
		targets = targets || o.Name != Generator
	}
	if targets {
		list = append(list, &Connections{Trees: trees})
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
