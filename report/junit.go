package report

import (
	"encoding/xml"
	"io"

	"github.com/assaybench/assay"
)

// The elements of a JUnit file, as CI systems read them.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out,omitempty"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string     `xml:"classname,attr"`
		Name    string     `xml:"name,attr"`
		Failure *junitText `xml:"failure"`
		Error   *junitText `xml:"error"`
		Skipped *junitText `xml:"skipped"`
		Out     string     `xml:"system-out,omitempty"`
	}
	junitText struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
	}
)

// JUnit writes each hypothesis as a test case. FAIL is a failure. UNDECIDED and UNTESTED are
// skipped: the claim was neither confirmed nor contradicted, and most systems let that pass; VOID
// is an error: the measurement itself is not to be trusted. Only PASS is a plain success. A
// pipeline that must not pass on a skipped claim uses the exit status of assay grade --require PASS.
func JUnit(w io.Writer, f Findings) error {
	suite := junitSuite{Name: plain(f.Verdicts.Experiment)}
	if r := f.Registration; r != nil {
		suite.Timestamp = r.Time.UTC().Format("2006-01-02T15:04:05")
		for _, p := range f.registered() {
			suite.Properties = append(suite.Properties, junitProperty{p.Name, plain(p.Text)})
		}
	}
	for _, c := range f.claims() {
		suite.Tests++
		k := junitCase{Class: suite.Name, Name: plain(c.v.ID + ": " + c.marked())}
		says := &junitText{Type: plain(string(c.v.Reason)), Message: plain(string(c.v.Verdict) + ", " + c.sentence())}
		switch c.v.Verdict {
		case assay.Pass:
			k.Out = plain(c.sentence())
		case assay.Fail:
			suite.Failures++
			k.Failure = says
		case assay.Undecided, assay.Untested:
			suite.Skipped++
			says.Type = ""
			says.Message = plain(string(c.v.Verdict) + " " + string(c.v.Reason) + ", " + c.sentence())
			k.Skipped = says
		default:
			suite.Errors++
			k.Error = says
		}
		suite.Cases = append(suite.Cases, k)
	}
	suite.Out = plain(f.answer() + " " + f.tally())
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suite: suite}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
