package config

import "maps"

// set makes a lookup table of names.
func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// knownProviders are the providers whose base URL need not be configured.
var knownProviders = []string{
	"openai", "deepseek", "zai", "anthropic", "gemini", "mistral", "groq", "openrouter", "ollama", "lmstudio",
}

// KnownProviders lists the provider names that need no base_url.
func KnownProviders() []string { return append([]string(nil), knownProviders...) }

// knownModels are the ids and aliases of the catalogue's models, which another
// package reads: what a user can set depends on nothing.
var knownModels = []string{
	"gpt-6-luna", "luna", "gpt-6-sol", "sol", "gpt-6-astra", "astra", "glm-4.6", "glm-4.7", "glm", "deepseek-flash", "demo",
}

// KnownModels lists the ids and aliases of models that need no entry of their own.
func KnownModels() []string { return append([]string(nil), knownModels...) }

// litellmPrefixes are further provider prefixes of LiteLLM's model names.
// Those that have no address of their own need an api_base.
var litellmPrefixes = union(set(knownProviders...), set(
	"ollama_chat", "lm_studio", "hosted_vllm", "vllm", "azure", "azure_ai", "bedrock", "vertex_ai", "vertex_ai_beta", "cohere", "cohere_chat",
	"openai_like", "custom_openai", "litellm_proxy", "text-completion-openai", "xai", "together_ai", "fireworks_ai",
	"perplexity", "huggingface", "replicate", "nvidia_nim", "cerebras", "sambanova", "deepinfra", "anyscale", "llamafile",
	"databricks", "watsonx", "github", "github_copilot", "moonshot", "dashscope", "volcengine", "novita", "nebius", "ai21",
	"cloudflare", "codestral", "text-completion-codestral", "friendliai", "galadriel", "groq", "infinity", "jina_ai", "meta_llama", "xinference",
	"sagemaker", "sagemaker_chat", "snowflake", "oci", "lambda_ai", "hyperbolic", "inception", "minimax", "v0", "vercel_ai_gateway", "baseten", "featherless_ai", "docker_model_runner",
))

// ownAPI are those of litellmPrefixes that LiteLLM reaches by an API of their own:
// without an OpenAI-compatible one in front of them nothing can be asked there.
var ownAPI = set(
	"bedrock", "sagemaker", "sagemaker_chat", "vertex_ai", "vertex_ai_beta", "cohere", "cohere_chat", "replicate", "huggingface", "watsonx", "oci",
	"snowflake", "cloudflare", "ai21", "jina_ai", "infinity", "text-completion-openai", "text-completion-codestral", "github_copilot",
)

// IsProviderPrefix reports whether LiteLLM knows a provider by that prefix of a
// model's name.
func IsProviderPrefix(name string) bool { return litellmPrefixes[name] }

// litellmSections are top-level keys of a LiteLLM configuration without a
// meaning here.
var litellmSections = set(
	"general_settings", "environment_variables", "credential_list", "guardrails", "mcp_servers",
	"mcp_aliases", "vector_store_registry", "search_tools", "prompts", "assistant_settings", "finetune_settings",
	"files_settings", "callback_settings", "default_team_settings", "include", "agent_list", "policies", "policy_attachments",
	"pass_through_endpoints", "worker_config", "access_groups", "tool_permission", "health_check_model_params",
)

// litellmKeys are keys of model_list, litellm_params and router_settings that
// LiteLLM knows and that have no meaning here.
var litellmKeys = set(
	// litellm_params
	"organization", "custom_llm_provider", "max_retries", "max_parallel_requests", "order", "top_p", "top_k", "n", "stop", "seed",
	"presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "user", "stream", "response_format", "tools", "tool_choice",
	"parallel_tool_calls", "functions", "function_call", "max_completion_tokens", "extra_body", "drop_params", "additional_drop_params",
	"allowed_openai_params", "thinking", "verbosity", "service_tier", "store", "metadata", "tags", "mock_response", "mock_timeout", "mock_delay", "region_name",
	"vertex_project", "vertex_location", "vertex_credentials", "aws_access_key_id", "aws_secret_access_key", "aws_session_token", "aws_region_name",
	"aws_profile_name", "aws_role_name", "aws_session_name", "aws_web_identity_token", "aws_bedrock_runtime_endpoint", "aws_sts_endpoint",
	"azure_ad_token", "azure_ad_token_provider", "tenant_id", "client_id", "client_secret", "azure_username", "azure_password", "azure_scope",
	"watsonx_region_name", "base_model", "model_id", "input_cost_per_second", "output_cost_per_second", "input_cost_per_pixel", "output_cost_per_pixel",
	"input_cost_per_token_batches", "output_cost_per_token_batches", "input_cost_per_audio_token", "output_cost_per_audio_token",
	"cache_read_input_token_cost", "cache_creation_input_token_cost", "max_budget", "budget_duration", "default_api_key_rpm_limit", "default_api_key_tpm_limit",
	"configurable_clientside_auth_params", "use_in_pass_through", "use_litellm_proxy", "litellm_credential_name", "litellm_trace_id", "merge_reasoning_content_in_choices",
	"cache", "no-log", "num_ctx", "keep_alive", "format", "hf_model_name", "custom_prompt_dict", "roles", "initial_prompt_value", "final_prompt_value",
	"bos_token", "eos_token", "ssl_verify", "client", "supports_system_message", "model_config", "prompt_id", "prompt_variables", "guardrails", "auto_router_config",
	"auto_router_config_path", "auto_router_default_model", "auto_router_embedding_model", "complexity_router_config", "complexity_router_default_model",
	"fallbacks", "context_window_fallback_dict", "cache_control_injection_points", "gcs_bucket_name", "s3_bucket_name", "rpm_limit", "tpm_limit", "is_async", "dimensions", "encoding_format",
	"headers", "default_headers", "input_type", "web_search_options", "modalities", "audio", "prediction", "safety_identifier", "prompt_cache_key",
	// router_settings
	"redis_host", "redis_port", "redis_password", "redis_url", "redis_db", "cache_responses", "cache_kwargs", "caching_groups", "client_ttl", "polling_interval",
	"default_priority", "default_litellm_params", "default_max_parallel_requests", "set_verbose", "debug_level", "max_fallbacks", "disable_cooldowns",
	"routing_strategy_args", "routing_groups", "retry_policy", "model_group_retry_policy", "allowed_fails_policy", "alerting_config", "provider_budget_config", "enable_tag_filtering",
	"tag_filtering_match_any", "optional_pre_call_checks", "deployment_affinity_ttl_seconds", "router_general_settings", "assistants_config", "search_tools", "guardrail_list", "ignore_invalid_deployments", "model_list",
	"enable_health_check_routing", "enable_weighted_failover", "health_check_interval", "health_check_staleness_threshold", "background_health_checks", "usage_callback", "fallback_dict", "timeout_policy", "stream_options",
)

// union joins lookup tables.
func union(tables ...map[string]bool) map[string]bool {
	all := map[string]bool{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}
