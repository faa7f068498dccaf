package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

// A store carries out operations on an object store. Amazon's library puts the requests together,
// signs them and reads the answers; what it hands over is sent by the courier, once, over connections
// as the HTTP driver has them.
//
// The library's own work makes an operation several times as dear for the generator as one of the
// HTTP driver (docs/file.md has the figures); what is done before a request goes out counts as lag and
// not as the store's time.
type store struct {
	courier
	api    *s3.Client
	ask    asker
	expect expectation
	bytes  int64           // that a get reads; 0: not looked at
	span   assay.ByteRange // that a get asks for
}

// defaultRegion is what requests are signed for where the load names nothing else: stores of one
// place only expect it.
const defaultRegion = "us-east-1"

func newS3(l assay.S3Load, values map[string]string, seed uint64) (load.Driver, error) {
	s, err := newStore(l, values, seed, aws.NopRetryer{})
	if err != nil {
		return nil, fmt.Errorf("driver s3: %w", err)
	}
	return s, nil
}

// newStore is the driver with a retryer of the library: one that never repeats, tests apart.
func newStore(l assay.S3Load, values map[string]string, seed uint64, retries aws.Retryer) (*store, error) {
	u, err := parseURL(l.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	if err := allow(u.Hostname(), l.AllowHosts); err != nil {
		return nil, err
	}
	if err := addressable(l, u); err != nil {
		return nil, err
	}
	keys, err := credentials(l.Sign)
	if err != nil {
		return nil, err
	}
	x, err := newExpectation(assay.HTTPExpect{Status: l.Expect.Status, SHA256: l.Expect.SHA256}, values)
	if err != nil {
		return nil, err
	}
	s := &store{expect: x, bytes: int64(l.Expect.Bytes), span: l.Range}
	s.host = u.Host
	if l.Virtual {
		s.host = l.Bucket + "." + u.Host
	}
	s.keep = kept{fields: true, body: x.wantsBody() || l.Operation == "list", refusal: true}
	s.lay(newDialer(assay.HTTPLoad{Insecure: l.Insecure, Resolve: l.Resolve}, u), l.Connections)
	s.api = s3.New(s3.Options{
		AppID:                        "assay",
		BaseEndpoint:                 aws.String(l.Endpoint),
		Credentials:                  keys,
		Region:                       firstOf(l.Region, defaultRegion),
		UsePathStyle:                 !l.Virtual,
		HTTPClient:                   &s.courier,
		Retryer:                      retries,
		RequestChecksumCalculation:   aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation:   aws.ResponseChecksumValidationWhenRequired,
		ContinueHeaderThresholdBytes: -1,             // an answer before the body is a round trip that nobody planned
		DisableS3ExpressSessionAuth:  aws.Bool(true), // and so is opening a session
		DisableClockSkewCorrection:   true,
	})
	s.ask, err = s.asker(l, values, seed)
	return s, err
}

func firstOf(text, instead string) string {
	if text != "" {
		return text
	}
	return instead
}

// plainBucket is a name that can stand in a host's name.
var plainBucket = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// addressable refuses what the library would quietly address in another way.
func addressable(l assay.S3Load, u *url.URL) error {
	switch {
	case l.Bucket == "":
		return errors.New("want its bucket")
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil || u.Path != "" && u.Path != "/":
		return fmt.Errorf("endpoint %q: want a scheme, a host and a port only", l.Endpoint)
	case !l.Virtual:
		return nil
	case net.ParseIP(u.Hostname()) != nil:
		return fmt.Errorf("style virtual: host %s is an address and cannot stand behind a bucket's name; use a name such as localhost, or style path", u.Hostname())
	case !plainBucket.MatchString(l.Bucket):
		return fmt.Errorf("style virtual: bucket %q: want 3 to 63 of a-z, 0-9 and hyphens, or style path", l.Bucket)
	}
	return nil
}

// credentials reads the keys from the environment.
func credentials(s *assay.Signing) (aws.CredentialsProvider, error) {
	if s == nil {
		return aws.AnonymousCredentials{}, nil
	}
	var missing []error
	read := func(name string) string {
		if name == "" {
			return ""
		}
		value := os.Getenv(name)
		if value == "" {
			missing = append(missing, fmt.Errorf("sign: environment variable %s is not set", name))
		}
		return value
	}
	keys := aws.Credentials{Source: "environment", AccessKeyID: read(s.AccessKey), SecretAccessKey: read(s.SecretKey), SessionToken: read(s.SessionToken)}
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return keys, nil }), errors.Join(missing...)
}

// Do carries out one operation.
func (s *store) Do(ctx context.Context, op *load.Operation) error {
	e := &errand{op: op}
	err := s.judge(e, s.ask(context.WithValue(ctx, errandKey{}, e), op.Index))
	var f *load.Failure
	if e.asked > 1 && errors.As(err, &f) {
		return load.Fail(f.Class, fmt.Errorf("%w (not repeated, though the library would have, %d times)", f.Err, e.asked-1))
	}
	return err
}

// judge says what came of an errand. What was sent and answered is judged by itself; the library's
// error only adds the store's own word for it, or says that the answer could not be read.
func (s *store) judge(e *errand, err error) error {
	switch {
	case e.err != nil:
		return failure(e.err, load.Protocol)
	case e.asked == 0:
		return load.Fail(load.Wrong, err) // it cannot be asked for at all
	}
	wrong := s.expect.right(e.answer.status, e.answer.field, e.answer.body, e.op.Index)
	var f *load.Failure
	var told smithy.APIError
	switch {
	case errors.As(wrong, &f) && errors.As(err, &told):
		return load.Fail(f.Class, fmt.Errorf("%w %s: %.200s", f.Err, told.ErrorCode(), told.ErrorMessage()))
	case wrong != nil:
		return wrong
	case err != nil && e.answer.status < 300:
		return load.Fail(load.Protocol, err)
	}
	return s.rightPart(&e.answer)
}
