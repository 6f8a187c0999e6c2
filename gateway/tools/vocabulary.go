package tools

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"pointsman/approvals"
	"pointsman/assets"
)

// role is what a word in a name says about the tool.
type role int

const (
	unknown  role = iota
	risks         // a verb that changes something
	either        // a verb that changes something, as often a noun
	reads         // a verb that only looks
	readWeak      // a reading verb that is also a noun, or takes any object
	readNoun      // a noun that names something to look at
	object        // a noun that ends a name without a verb
)

// word is what the vocabulary knows of one word of a name.
type word struct {
	role  role
	class approvals.Class
}

// wordList is a list of words, written in YAML as one folded text.
type wordList []string

func (l *wordList) UnmarshalYAML(node *yaml.Node) error {
	var text string
	if err := node.Decode(&text); err != nil {
		return err
	}
	*l = strings.Fields(text)
	return nil
}

// vocabularyFile has the shape of assets/risk.yaml, where each key is explained.
type vocabularyFile struct {
	Risk         map[approvals.Class]wordList `yaml:"risk"`
	Either       map[approvals.Class]wordList `yaml:"either"`
	Read         wordList                     `yaml:"read"`
	ReadWeak     wordList                     `yaml:"read_weak"`
	ReadNouns    wordList                     `yaml:"read_nouns"`
	Objects      wordList                     `yaml:"objects"`
	NounVerbs    wordList                     `yaml:"noun_verbs"`
	Filler       wordList                     `yaml:"filler"`
	Joints       wordList                     `yaml:"joints"`
	Compute      wordList                     `yaml:"compute"`
	Grants       wordList                     `yaml:"grants"`
	Databases    wordList                     `yaml:"databases"`
	FileParams   wordList                     `yaml:"file_params"`
	FileVerbs    wordList                     `yaml:"file_verbs"`
	Selectors    wordList                     `yaml:"selectors"`
	Shells       wordList                     `yaml:"shells"`
	Carriers     wordList                     `yaml:"carriers"`
	ModesRead    wordList                     `yaml:"modes_read"`
	Alarms       wordList                     `yaml:"alarms"`
	DescribeRead wordList                     `yaml:"describe_read"`
	DescribeRisk wordList                     `yaml:"describe_risk"`
	Imperatives  wordList                     `yaml:"imperatives"`
	Nominals     wordList                     `yaml:"nominals"`
	Orders       map[string]wordList          `yaml:"orders"`
	Asks         wordList                     `yaml:"asks"`
	Whole        wordList                     `yaml:"whole"`
	Handed       orderLists                   `yaml:"handed"`
	Examines     kindLists                    `yaml:"examines"`
	Executed     wordList                     `yaml:"executed"`
	Deeds        wordList                     `yaml:"deeds"`
	LaterDeeds   wordList                     `yaml:"later_deeds"`
	Coordinators wordList                     `yaml:"coordinators"`
	Openers      wordList                     `yaml:"openers"`
	Determiners  wordList                     `yaml:"determiners"`
	Hedges       wordList                     `yaml:"hedges"`
	Lookups      wordList                     `yaml:"lookups"`
	Always       struct {
		Risky map[string]approvals.Class `yaml:"risky"`
		Safe  []string                   `yaml:"safe"`
	} `yaml:"always"`
}

// kindLists are words by what they belong to: a text to execute, or a program's
// command.
type kindLists struct {
	Text  wordList `yaml:"text"`
	Shell wordList `yaml:"shell"`
}

// orderLists are the words of parameters that hold something to execute.
type orderLists struct {
	kindLists  `yaml:",inline"`
	Doubtful   wordList `yaml:"doubtful"`
	Statements wordList `yaml:"statements"`
	Qualifiers wordList `yaml:"qualifiers"`
	Tails      wordList `yaml:"tails"`
}

// vocabulary is assets/risk.yaml made ready for lookup. It never changes.
type vocabulary struct {
	words                              map[string]word
	nounVerbs, filler, joints          map[string]bool
	compute, grants                    map[string]bool
	databases                          map[string]bool
	fileParams, fileVerbs              map[string]bool
	shells, carriers, modesRead        map[string]bool
	alarms, describeRead, describeRisk map[string]bool
	selectors                          map[string]bool
	imperatives, nominals              map[string]bool
	asks, whole                        map[string]bool
	orders                             map[string]map[string]bool // objects by verb
	handed                             orderWords
	examines                           kinds
	executed                           map[string]bool
	deeds, laterDeeds                  map[string]bool
	coordinators, openers              map[string]bool
	determiners, hedges, lookups       map[string]bool
	safe, risky                        nameSet
	riskyClass                         map[string]approvals.Class // by entry of risky
}

// kinds is kindLists made ready for lookup.
type kinds struct{ text, shell map[string]bool }

func newKinds(l kindLists) kinds { return kinds{wordSet(l.Text), wordSet(l.Shell)} }

func loadVocabulary() (*vocabulary, error) {
	dec := yaml.NewDecoder(bytes.NewReader(assets.RiskYAML))
	dec.KnownFields(true)
	var file vocabularyFile
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("reading the embedded risk words: %w", err)
	}
	v := newVocabulary(&file)
	v.addContexts(&file)
	if err := errors.Join(v.addWords(&file), v.checkImperatives(), v.handed.check(), v.addLists(&file)); err != nil {
		return nil, fmt.Errorf("reading the embedded risk words: %w", err)
	}
	return v, nil
}

func newVocabulary(file *vocabularyFile) *vocabulary {
	return &vocabulary{
		words:        make(map[string]word, 2048),
		nounVerbs:    wordSet(file.NounVerbs),
		filler:       wordSet(file.Filler),
		joints:       wordSet(file.Joints),
		compute:      wordSet(file.Compute),
		grants:       wordSet(file.Grants),
		databases:    wordSet(file.Databases),
		fileParams:   wordSet(file.FileParams),
		fileVerbs:    wordSet(file.FileVerbs),
		selectors:    wordSet(file.Selectors),
		shells:       wordSet(file.Shells),
		carriers:     wordSet(file.Carriers),
		modesRead:    wordSet(file.ModesRead),
		alarms:       wordSet(file.Alarms),
		describeRead: wordSet(file.DescribeRead),
		describeRisk: wordSet(file.DescribeRisk),
		riskyClass:   file.Always.Risky,
	}
}

// addContexts fills the lists that say what words mean beside others.
func (v *vocabulary) addContexts(file *vocabularyFile) {
	v.imperatives, v.nominals = wordSet(file.Imperatives), wordSet(file.Nominals)
	v.asks, v.whole = wordSet(file.Asks), wordSet(file.Whole)
	v.orders = make(map[string]map[string]bool, len(file.Orders))
	for verb, objects := range file.Orders {
		v.orders[verb] = wordSet(objects)
	}
	v.handed, v.examines = newOrderWords(file.Handed), newKinds(file.Examines)
	v.executed = wordSet(file.Executed)
	v.deeds, v.laterDeeds = wordSet(file.Deeds), wordSet(file.LaterDeeds)
	v.coordinators, v.openers = wordSet(file.Coordinators), wordSet(file.Openers)
	v.determiners, v.hedges, v.lookups = wordSet(file.Determiners), wordSet(file.Hedges), wordSet(file.Lookups)
}

// checkImperatives refuses an imperative or order without a class of its own:
// it would be found and said to read.
func (v *vocabulary) checkImperatives() error {
	for _, verb := range slices.Concat(slices.Collect(maps.Keys(v.imperatives)), slices.Collect(maps.Keys(v.orders))) {
		if role := v.words[verb].role; role != risks && role != either {
			return fmt.Errorf("%q gives an order but is in no list of risk or either", verb)
		}
	}
	return nil
}

// addLists fills the lists of tools known by name.
func (v *vocabulary) addLists(file *vocabularyFile) (err error) {
	names := slices.Sorted(maps.Keys(file.Always.Risky))
	if v.risky, err = newNameSet(names); err != nil {
		return fmt.Errorf("always.risky: %w", err)
	}
	if v.safe, err = newNameSet(file.Always.Safe); err != nil {
		return fmt.Errorf("always.safe: %w", err)
	}
	return nil
}

// addWords fills v.words and refuses a word with two meanings.
func (v *vocabulary) addWords(file *vocabularyFile) error {
	add := func(role role, class approvals.Class, list wordList) error {
		for _, w := range list {
			if _, twice := v.words[w]; twice {
				return fmt.Errorf("%q is in two lists", w)
			}
			v.words[w] = word{role, class}
		}
		return nil
	}
	for class, list := range file.Risk {
		if err := add(risks, class, list); err != nil {
			return err
		}
	}
	for class, list := range file.Either {
		if err := add(either, class, list); err != nil {
			return err
		}
	}
	looking := map[role]wordList{
		reads: file.Read, readWeak: file.ReadWeak, readNoun: file.ReadNouns, object: file.Objects,
	}
	for role, list := range looking {
		if err := add(role, approvals.Read, list); err != nil {
			return err
		}
	}
	return nil
}

func wordSet(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, w := range list {
		set[w] = true
	}
	return set
}
