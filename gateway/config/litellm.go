package config

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// litellmSettings is a section of LiteLLM's where users put settings of the
// router, too. They count where router_settings is silent.
const litellmSettings = "litellm_settings"

// litellmDefaults reads the settings of litellm_settings that have a meaning
// here, before the file's own sections.
func (d *decoder) litellmDefaults(root *yaml.Node, config *Config) {
	root = resolveAlias(root)
	if root.Kind != yaml.MappingNode {
		return
	}
	section := child(root, step{key: litellmSettings})
	if section == nil || resolveAlias(section.node()).Kind != yaml.MappingNode {
		return
	}
	router := reflect.ValueOf(&config.RouterSettings).Elem()
	fields := fieldsOf(router.Type())
	d.pairs(resolveAlias(section.node()), litellmSettings, 1, func(key, value *yaml.Node, at string) {
		name := key.Value
		if name == "request_timeout" {
			name = "timeout"
		}
		switch name {
		case "num_retries", "timeout", "allowed_fails", "cooldown_time", "fallbacks", "context_window_fallbacks", "content_policy_fallbacks", "default_fallbacks":
			d.value(value, router.Field(fields[name]), join("router_settings", name), litellm, 2)
		default:
			d.places[at] = key
			d.ignored = append(d.ignored, at)
		}
	})
}
