package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	assay "github.com/assaybench/assay"
)

// An asker lets the library ask for the operation of that index.
type asker func(ctx context.Context, index int64) error

// asker is the one table of operations on a store.
func (s *store) asker(l assay.S3Load, values map[string]string, seed uint64) (asker, error) {
	bucket := aws.String(l.Bucket)
	if l.Operation == "list" {
		return s.lister(bucket, l, values)
	}
	k, err := newObjectKeys(l.Keys, values, seed)
	if err != nil {
		return nil, err
	}
	switch l.Operation {
	case "get":
		var span *string
		if s.span != "" {
			span = aws.String("bytes=" + string(s.span))
		}
		return k.each(func(ctx context.Context, key *string, _ int64) error {
			got, err := s.api.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: key, Range: span})
			if err != nil {
				return err
			}
			return got.Body.Close()
		}), nil
	case "head":
		return k.each(func(ctx context.Context, key *string, _ int64) error {
			_, err := s.api.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: key})
			return err
		}), nil
	case "put":
		bodies, err := newPayloads(l.Body, values, seed)
		if err != nil {
			return nil, err
		}
		return k.each(func(ctx context.Context, key *string, index int64) error {
			b, _ := bodies.of(index)
			content, err := b.content(index)
			if err != nil {
				return err
			}
			_, err = s.api.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: key, Body: bytes.NewReader(content)})
			return err
		}), nil
	case "delete":
		return k.each(func(ctx context.Context, key *string, _ int64) error {
			_, err := s.api.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: key})
			return err
		}), nil
	}
	return nil, fmt.Errorf("operation %q: want get, head, put, list or delete", l.Operation)
}

// lister lists the keys behind a prefix, as many as the store gives at once.
func (s *store) lister(bucket *string, l assay.S3Load, values map[string]string) (asker, error) {
	prefix, _, err := fill(l.Prefix, values)
	if err != nil {
		return nil, fmt.Errorf("prefix: %w", err)
	}
	var most *int32
	if l.Most > 0 {
		most = aws.Int32(int32(l.Most))
	}
	return func(ctx context.Context, index int64) error {
		text, err := expand(prefix, index)
		if err != nil {
			return err
		}
		_, err = s.api.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String(text), MaxKeys: most})
		return err
	}, nil
}

// objectKeys are the keys that operations go to: a template, or those of a list.
type objectKeys struct {
	template assay.Template
	list     []string
	mixture
}

func newObjectKeys(k assay.Keys, values map[string]string, seed uint64) (*objectKeys, error) {
	var keys objectKeys
	var weights []float64
	var err error
	switch {
	case k.Weighted != "":
		keys.list, weights, err = weighted(k.Weighted, "key")
	case k.List != "":
		keys.list, err = readKeys(k.List)
	case k.Template.IsZero():
		err = errors.New("want the key of an object, or a list of keys")
	default:
		if keys.template, _, err = fill(k.Template, values); err != nil {
			err = fmt.Errorf("key: %w", err)
		}
	}
	keys.mixture = newMixture(len(keys.list), weights, seed)
	return &keys, err
}

// readKeys reads a file with a key a line.
func readKeys(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	var list []string
	for line := range strings.Lines(string(b)) {
		if key := strings.TrimRight(line, "\r\n"); key != "" {
			list = append(list, key)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("read keys: %s holds none", path)
	}
	return list, nil
}

// each is an asker that is told the key of each operation.
func (k *objectKeys) each(do func(ctx context.Context, key *string, index int64) error) asker {
	return func(ctx context.Context, index int64) error {
		if k.list != nil {
			return do(ctx, &k.list[k.pick(index)], index)
		}
		key, err := expand(k.template, index)
		if err != nil {
			return err
		}
		return do(ctx, &key, index)
	}
}
