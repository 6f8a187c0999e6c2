package config

// Settings are the configuration as a form shows it.
type Settings struct {
	Path     string // of the file, which may not exist yet
	Revision string // of the file's text; an edit names the one it was made from
	// Config is what is in force. A literal secret in it is masked; one that
	// comes back masked in an Edit stays what it was.
	Config *Config
	// Set names the settings that the file does not decide ("gateway.listen"),
	// with what does, in words: an Edit of one has no effect while that lasts.
	Set      map[string]string
	Problems []Problem // warnings of the last load
	Held     []string  // what of the file waits for a yes, in sentences
	Restart  []string  // what takes effect at the next start: paths
	Fault    []string  // why what the file holds now is not in force; empty when it is
	Log      string    // path of the log file; "" when there is none
}
