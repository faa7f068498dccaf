// Package telemetry watches what a trial does to the machine and what the machine does to a trial.
//
//   - A [Sampler] reads one source (processes, control groups, pressure, sockets, …) as readings;
//     [Watch] calls several at a fixed rate, writes readings.csv and keeps the last ones for kill
//     rules.
//   - A [Prober] is a bystander: a small operation at a low rate on the thing that is shared.
//   - A [Gauge] gives the reading of a gate before a trial.
//   - [Snapshot] and [State.Since] tell what happened around a trial that no figure may survive:
//     stolen time, a stepped clock, swapped-in pages, throttling.
//
// A source that this machine lacks is named once as absent. It never reads as zero.
package telemetry
