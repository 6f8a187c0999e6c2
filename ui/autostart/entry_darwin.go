package autostart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// label names the agent to launchd.
const label = "dev." + name

// path is where the agent is, or would be.
func (e Entry) path() (string, error) {
	getenv := e.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("finding the folder of launch agents: HOME is not set")
	}
	return filepath.Join(home, "Library", "LaunchAgents", label+".plist"), nil
}

func (e Entry) render() []byte {
	var program bytes.Buffer
	_ = xml.EscapeText(&program, []byte(e.Program)) // a buffer takes everything
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Label</key><string>%s</string>
<key>ProgramArguments</key><array><string>%s</string></array>
<key>RunAtLoad</key><true/>
<key>ProcessType</key><string>Interactive</string>
</dict></plist>
`, label, program.String())
}

// parse reads an agent of ours, which somebody may have changed.
func parse(data []byte) Status {
	s := Status{Present: true}
	decoder := xml.NewDecoder(bytes.NewReader(data))
	key, text, runs, disabled := "", "", false, false
	for {
		token, err := decoder.Token()
		if err != nil {
			s.Enabled = errors.Is(err, io.EOF) && runs && !disabled && s.Program != ""
			return s
		}
		switch token := token.(type) {
		case xml.CharData:
			text = string(token)
		case xml.StartElement:
			text = ""
			runs = runs || key == "RunAtLoad" && token.Name.Local == "true"
			disabled = disabled || key == "Disabled" && token.Name.Local == "true"
		case xml.EndElement:
			switch {
			case token.Name.Local == "key":
				key = strings.TrimSpace(text)
			case token.Name.Local == "string" && key == "ProgramArguments" && s.Program == "":
				s.Program = text
			}
		}
	}
}
