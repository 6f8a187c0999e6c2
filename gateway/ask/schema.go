package ask

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pointsman/gateway/cut"
)

// compiledSchema is a compiled JSON compiledSchema of draft 2020-12, or of the draft that its
// $schema names. It is not safe for concurrent use.
type compiledSchema struct {
	raw      any // as it was given
	compiled *jsonschema.Schema
	clock    *clock
}

// validationPatience is how long one validation may take. Patterns are matched in
// linear time (RE2); this is for what schemas can do without them.
const validationPatience = 500 * time.Millisecond

// errTooLong is what ends a validation that takes too long.
var errTooLong = errors.New("the validation takes too long")

// clock ends a validation that has taken too long. It is asked at every object
// schema that is tried, as a keyword of its own that is always there.
type clock struct{ deadline time.Time }

// Validate panics with errTooLong; compiledSchema.Validate recovers.
func (c *clock) Validate(*jsonschema.ValidatorContext, any) {
	if !c.deadline.IsZero() && time.Now().After(c.deadline) {
		panic(errTooLong)
	}
}

// nothingElsewhere fetches no schema: one that points outside itself is refused.
type nothingElsewhere struct{}

func (nothingElsewhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the schema, and nothing is fetched", url)
}

// here is the address of a schema without one of its own.
const here = "pointsman:schema"

// compileSchema compiles a schema. It fails for one that is not valid, or that
// points outside itself.
func compileSchema(raw []byte) (*compiledSchema, error) {
	doc, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	return compile(doc, nothingElsewhere{}, jsonschema.Draft2020)
}

func compile(doc any, loader jsonschema.URLLoader, draft *jsonschema.Draft) (*compiledSchema, error) {
	s := &compiledSchema{raw: doc, clock: &clock{}}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(loader)
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL:     "pointsman:clock",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return s.clock, nil },
	})
	c.AssertVocabs()
	if err := c.AddResource(here, doc); err != nil {
		return nil, fmt.Errorf("it cannot be taken: %w", err)
	}
	var err error
	if s.compiled, err = c.Compile(here); err != nil {
		return nil, fmt.Errorf("it is no valid schema: %s", oneLine(err))
	}
	return s, nil
}

// oneLine is an error's whole message, in one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// isOfObjects refuses a schema that does not say that it is of objects.
func (s *compiledSchema) isOfObjects() error {
	if doc, ok := s.raw.(map[string]any); !ok || doc["type"] != "object" {
		return errors.New(`its type must be "object"`)
	}
	return nil
}

// violation is how a value breaks a schema. It does not tell the value.
type violation struct {
	Path       string // of the part at fault, as "answer/city"; "" for the whole
	Constraint string // the keyword that it breaks
}

func (v *violation) Error() string {
	where := v.Path
	if where == "" {
		where = "the root"
	}
	return fmt.Sprintf("schema violation at %s: failed the '%s' constraint", where, v.Constraint)
}

// Validate checks a value as decoded from JSON. It returns a *violation, or
// errTooLong.
func (s *compiledSchema) Validate(value any) (err error) {
	s.clock.deadline = time.Now().Add(validationPatience)
	defer func() {
		s.clock.deadline = time.Time{}
		if p := recover(); p == errTooLong {
			err = errTooLong
		} else if p != nil {
			panic(p)
		}
	}()
	err = s.compiled.Validate(value)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return violationOf(invalid)
	}
	return err
}

// violationOf tells the first of the parts that are at fault, and the deepest one.
func violationOf(e *jsonschema.ValidationError) *violation {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	constraint := "schema"
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		constraint = path[0]
	}
	return &violation{Path: cut.To(strings.Join(e.InstanceLocation, "/"), maxName), Constraint: constraint}
}
