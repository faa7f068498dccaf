// Package target starts, waits for, pins, watches and stops processes: the commands of trials and
// the services that a load goes to.
//
// # Nothing survives
//
// Every command is started by a guardian: this program executed again as a small process of its own
// session, which [Keep] turns into a guardian before anything else happens. The guardian is a child
// subreaper, so whatever the command starts stays below it: grandchildren, processes that forked
// twice and called setsid, processes with an empty environment. Its list of children is therefore
// the whole truth, and "no children left" (ECHILD) is the proof that nothing is left.
//
//   - When the command is done, or is to be stopped, the guardian asks every descendant to end
//     (SIGTERM), waits for the grace, and then kills until it has no children.
//   - When the program dies, by kill -9 or otherwise, its end of the socket closes; the guardian
//     kills everything at once and exits.
//   - When the guardian dies, the program is the next subreaper: the orphans come to it, and it kills
//     them. They are told apart from its other children by their session.
//   - When both die at once, the next start finds what is left by the mark that every process of a
//     results folder carries ([SweepLeftovers]).
//
// The roads not taken: a parent-death signal follows the thread, and spares grandchildren; a process
// group is left by setsid; a PID namespace and cgroup.kill need rights; a supervising process above
// the program would have to hand on terminals, signals and job control.
//
// The guardian is also the better place to time from. It is small and quiet, so that its fork is
// cheap and its own memory does not hide that of the command: a child's peak RSS as the kernel
// reports it starts at the peak of the process that forked it.
package target
