package assay

import "time"

// A Workload is what one trial of one cell does. Levels and derived names are already filled in;
// only {block}, {trial} and {seed} are left in its templates.
type Workload struct {
	Command *Command // exactly one of Command and Load is set
	Load    *Load
	Targets []Target
	Probes  []Probe
	Kills   []KillRule
	Events  []Event
	Hooks   Hooks
	Cap     time.Duration // 0: none
	Hung    HungRule      // After 0: not watched
	// ExpectStall lists the mechanisms that may stall this cell without voiding it.
	ExpectStall bool
}

// A Command is a program with its arguments. No shell is involved unless Shell is set.
type Command struct {
	Args  []Template // with Shell: one element, handed to sh -c
	Shell bool
	Dir   string // absolute
	Env   []EnvVar
	Stdin string // absolute path; empty: /dev/null
	CPUs  []int  // pinned to these; empty: not pinned
	Nice  int
	// Limits are rlimits: name (nofile, as, nproc, cpu) to value.
	Limits map[string]uint64
	// Evict lists files to drop from the page cache; set instead of Args in a prepare hook.
	Evict []string
}

// An EnvVar sets or removes one environment variable.
type EnvVar struct {
	Name  string
	Value Template
	Unset bool
}

// A Target is a process, or a group of them, that the load goes to.
type Target struct {
	Name     string
	Command  *Command  // nil with External
	External *External // somebody else's process, only watched
	Ready    Ready
	// Fresh is trial, block or experiment; or empty, with FreshOn naming factors.
	Fresh   string
	FreshOn []string
	Starts  int // processes expected; 0: not checked
	After   []string
	// Supervise, when set, restarts the target when its health check fails.
	Supervise  *Supervise
	Prometheus string // URL scraped for prom(name, metric)
}

// External names a process that somebody else started.
type External struct {
	PID    int
	Port   int
	Cgroup string
}

// Ready says when a target can take load. At most one of its checks is set.
type Ready struct {
	HTTP     string
	TCP      string
	Log      string // regular expression on a line of its output
	Command  *Command
	Patience time.Duration
}

// Supervise is a health check with a consequence.
type Supervise struct {
	HTTP     string
	Timeout  time.Duration
	Period   time.Duration
	Failures int
	Do       string // restart
}

// A Load is a schedule of operations on a driver.
type Load struct {
	Driver  string // http, s3 or process; the matching field below is set
	HTTP    *HTTPLoad
	S3      *S3Load
	Process *Command
	// Rate is the arrival rate of an open loop, per second; 0 in a closed one.
	Rate float64
	// Clients is the number of clients of a closed loop; 0 in an open one.
	Clients  int
	Think    time.Duration
	Arrivals string // constant or poisson
	Steps    []Step // instead of Rate: one after the other
	Ramp     *Ramp
	Trace    string // file of intended times, one a line, in seconds
	SeedBy   string // block or trial
	Warmup   time.Duration
	For      time.Duration
	Timeout  time.Duration
	// InFlight bounds the operations in flight; 0 is auto: rate x timeout.
	InFlight int
	// Late says that an arrival without a slot is sent late instead of dropped.
	Late bool
	// Phases asks for the times of the phases of operations.
	Phases bool
	// Operations is "all" to keep every operation in Parquet.
	Operations string
}

// Connections is the most connections that the load may open; 0: as many as are in flight.
func (l *Load) Connections() int {
	switch {
	case l.HTTP != nil:
		return l.HTTP.Connections
	case l.S3 != nil:
		return l.S3.Connections
	}
	return 0
}

// A Step is one rate held for a time.
type Step struct {
	Rate float64
	For  time.Duration
}

// A Ramp is a rate that changes linearly.
type Ramp struct {
	From, To float64
	For      time.Duration
}

// An HTTPLoad says what one HTTP operation is.
type HTTPLoad struct {
	URL     Template
	Method  string
	Headers []Header
	// Body is text, a file, or a folder of files with optional weights.
	Body        Body
	Version     string // 1.1 or 2
	NoKeepAlive bool
	Connections int // most connections; 0: as many as are in flight
	Streams     int // streams a connection, with version 2
	Insecure    bool
	Unix        string // path of a unix socket
	Expect      HTTPExpect
	AllowHosts  []string
	Resolve     time.Duration // how often names are resolved again; 0: once
}

// An S3Load says what one operation on an object store is.
type S3Load struct {
	Endpoint  string // such as http://127.0.0.1:7070
	Bucket    string
	Operation string    // get, head, put, list or delete
	Keys      Keys      // not with list
	Range     ByteRange // that a get asks for
	Prefix    Template  // of the keys that are listed
	Most      int       // keys that a list asks for; 0: the store decides
	Body      Body      // that is put
	Virtual   bool      // the bucket stands in the host's name and not in the path
	Region    string    // that is signed for; empty: us-east-1
	// Sign names where the keys are; nil sends anonymous requests.
	Sign        *Signing
	Connections int // most connections; 0: as many as are in flight
	Insecure    bool
	Expect      S3Expect
	AllowHosts  []string
	Resolve     time.Duration // how often names are resolved again; 0: once
}

// Keys are the keys of the objects that operations go to: one of its fields is set.
type Keys struct {
	Template Template
	List     string // a file with a key a line; they take turns
	Weighted string // CSV of key,weight
}

// Signing names the environment variables that hold the keys requests are signed with. The keys
// themselves stand in no file.
type Signing struct {
	AccessKey, SecretKey string
	SessionToken         string // empty: there is none
}

// S3Expect says which answers are right.
type S3Expect struct {
	Status []int  // empty: 200 to 299
	SHA256 string // of what a get reads
	Bytes  int    // that a get reads; 0: not looked at
}

// A Header is one header line.
type Header struct {
	Name  string
	Value Template
}

// A Body is where request bodies come from.
type Body struct {
	Text    Template
	Path    string // a file, or a folder of files
	Weights string // CSV of file,weight
}

// HTTPExpect says which responses are right.
type HTTPExpect struct {
	Status []int  // empty: 200 to 299
	Header Header // empty name: not looked at
	SHA256 string // of the body
	JSON   string // a path that must be there
	Equals string // and its text, if not empty
}

// A Probe is a bystander that performs a small operation at a low fixed rate.
type Probe struct {
	Name    string
	Read    string // glob of files, read cold
	HTTP    string
	TCP     string
	Bytes   int
	Rate    float64 // per second; 0: for gates only, never during a trial
	Timeout time.Duration
}

// A KillRule stops a trial that harms others.
type KillRule struct {
	When      Condition
	CoolDown  time.Duration
	SkipAbove string // factor whose higher levels are skipped from the next block on
}

// An Event is a fault on purpose.
type Event struct {
	At     time.Duration
	Signal string        // STOP, CONT, KILL, TERM, …, or RESTART
	To     string        // a target's name, or "command"
	For    time.Duration // with STOP: until CONT
}
