// Package store keeps the results folder: the only path between measuring and judging.
//
// A folder holds experiment.yaml as written, registration.json, host.json, trials.jsonl with one
// fsynced line a trial, a folder for each trial's files, and what is derived from these. Each line
// of trials.jsonl holds the SHA-256 of the line before, so that a change, a removal or an insertion
// shows. Nothing recorded is rewritten: files are replaced whole and only by longer ones, and
// trials.jsonl only grows.
package store
