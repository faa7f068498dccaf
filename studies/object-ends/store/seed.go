package store

import (
	"bytes"
	"context"
	"crypto/md5" // what S3 calls an ETag
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/assaybench/assay/studies/object-ends/corpus"
)

// A Seeding is what Seed did.
type Seeding struct {
	Objects int   `json:"objects"`
	Present int   `json:"present"` // of them, were there in the right size before
	Written int   `json:"written"`
	Bytes   int64 `json:"bytes"` // written
}

// putsInFlight is how many objects are stored at once.
const putsInFlight = 8

// Seed makes a store hold exactly the corpus. It writes the manifest before any object, stores only what
// a listing does not show in the right size, and so goes on where an earlier run was interrupted. Then it
// lists once more and holds every size and every MD5 against the closed forms, those of objects that
// were there before as well. On error it returns what it did until then.
func Seed(ctx context.Context, client *Client, c corpus.Corpus) (Seeding, error) {
	bucket := c.Bucket()
	seeding := Seeding{Objects: c.Objects}
	if err := client.CreateBucket(ctx, bucket); err != nil {
		return seeding, fmt.Errorf("seed %s: %w", bucket, err)
	}
	listed, err := client.List(ctx, bucket)
	if err != nil {
		return seeding, fmt.Errorf("seed %s: %w", bucket, err)
	}
	there := make(map[string]Object, len(listed))
	for _, object := range listed {
		there[object.Key] = object
	}
	entries := c.Manifest()
	if err := seedManifest(ctx, client, bucket, entries, there[corpus.ManifestKey].ETag); err != nil {
		return seeding, fmt.Errorf("seed %s: %w", bucket, err)
	}
	var missing []corpus.Entry
	for _, entry := range entries {
		if object, ok := there[entry.Path]; ok && object.Size == entry.Size {
			seeding.Present++
		} else {
			missing = append(missing, entry)
		}
	}
	seeding.Written, seeding.Bytes, err = putAll(ctx, client, c, missing)
	if err != nil {
		return seeding, fmt.Errorf("seed %s: %w", bucket, err)
	}
	if err := Verify(ctx, client, c); err != nil {
		return seeding, fmt.Errorf("seed %s: %w", bucket, err)
	}
	return seeding, nil
}

// seedManifest stores the manifest unless it is there.
func seedManifest(ctx context.Context, client *Client, bucket string, entries []corpus.Entry, etag string) error {
	var manifest bytes.Buffer
	if err := corpus.WriteManifest(&manifest, entries); err != nil {
		return err
	}
	if etagOf(manifest.Bytes()) == etag {
		return nil
	}
	return client.Put(ctx, bucket, corpus.ManifestKey, manifest.Bytes())
}

// putAll stores the entries' objects, several at a time. After the first error it begins no more, and
// lets those end that are on their way, so that none of them is sent again.
func putAll(ctx context.Context, client *Client, c corpus.Corpus, entries []corpus.Entry) (written int, size int64, err error) {
	going, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next, count, sum atomic.Int64
	var putters sync.WaitGroup
	for range putsInFlight {
		putters.Go(func() {
			var room []byte
			for going.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(entries) {
					return
				}
				room = c.Object(entries[i].FileID, room)
				if err := client.Put(ctx, c.Bucket(), entries[i].Path, room); err != nil {
					stop(err)
					return
				}
				count.Add(1)
				sum.Add(entries[i].Size)
			}
		})
	}
	putters.Wait()
	return int(count.Load()), sum.Load(), context.Cause(going)
}

// Verify lists a store's bucket and returns an error naming the first objects, up to five, that are not
// those of the corpus: missing, of another size or another MD5, or strangers. A manifest is asked for too.
func Verify(ctx context.Context, client *Client, c corpus.Corpus) error {
	listed, err := client.List(ctx, c.Bucket())
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	there := make(map[string]Object, len(listed))
	for _, object := range listed {
		there[object.Key] = object
	}
	var manifest bytes.Buffer
	if err := corpus.WriteManifest(&manifest, c.Manifest()); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	wrong := mismatches(there, corpus.ManifestKey, manifest.Bytes())
	var room []byte
	for _, entry := range c.Manifest() {
		room = c.Object(entry.FileID, room)
		wrong = append(wrong, mismatches(there, entry.Path, room)...)
		delete(there, entry.Path)
	}
	delete(there, corpus.ManifestKey)
	for key := range there {
		wrong = append(wrong, key+": not of the corpus")
	}
	if len(wrong) > 0 {
		return fmt.Errorf("verify: %d objects are wrong: %s", len(wrong), strings.Join(wrong[:min(5, len(wrong))], "; "))
	}
	return nil
}

// mismatches says, in no or one sentence, how the listed object differs from content.
func mismatches(there map[string]Object, key string, content []byte) []string {
	object, ok := there[key]
	switch {
	case !ok:
		return []string{key + ": missing"}
	case object.Size != int64(len(content)):
		return []string{fmt.Sprintf("%s: got %d bytes, want %d", key, object.Size, len(content))}
	case object.ETag != etagOf(content):
		return []string{fmt.Sprintf("%s: got MD5 %s, want %s", key, object.ETag, etagOf(content))}
	}
	return nil
}

func etagOf(content []byte) string {
	digest := md5.Sum(content)
	return hex.EncodeToString(digest[:])
}
