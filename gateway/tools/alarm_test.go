package tools_test

import (
	"testing"

	"pointsman/approvals"
	"pointsman/gateway/tools"
)

func TestClassifyReadOnlyStatements(t *testing.T) {
	c := newClassifier(t, nil, nil)
	for _, tt := range []struct {
		param, description string
		want               approvals.Class
	}{
		{"sql", "Run a read-only SQL query.", approvals.Read},
		{"sql", "Run a SQL query.", approvals.Execute},
		{"sql", "Run a SQL query. The session is not read-only.", approvals.Execute},
		{"command", "Run a read-only command.", approvals.Execute},
	} {
		t.Run(tt.param+" "+tt.description, func(t *testing.T) {
			tool := modeTool("query", tt.param, map[string]any{"type": "string"})
			tool["description"] = tt.description
			if v := c.Classify(parse(t, tool), "query"); v.Class != tt.want {
				t.Errorf("got %s (%q), want %s", v.Class, v.Evidence, tt.want)
			}
		})
	}
}

// Names and descriptions as servers write them: + changes something, - only
// reads. Each stands for a kind that is easily judged wrong.
func TestClassifySentences(t *testing.T) {
	readOnly, notReadOnly := map[string]any{"readOnlyHint": true}, map[string]any{"readOnlyHint": false}
	c := newClassifier(t, nil, nil)
	for _, tt := range []struct {
		want              byte
		name, description string
		hints             map[string]any
	}{
		{'+', "issue", "Creates a new issue in the given repository; returns its number and URL.", nil},
		{'+', "get_profile", "Get the profile of a user and optionally update their display name.", nil},
		{'+', "get_profile", "Get the profile of a user and optionally update their display name.", readOnly},
		{'+', "get_label", "Gets a label by name, or creates it when there is none.", nil},
		{'+', "get_session", "Gets the current session. Creates a new one if none is open.", nil},
		{'+', "read_inbox", "Reads the newest messages and marks them as seen.", nil},
		{'+', "read_inbox", "Reads the newest messages. It also marks all of them as seen.", nil},
		{'+', "fetch_queue", "Fetches the next item of the queue and removes it.", nil},
		{'+', "fetch_queue", "Fetches the next item of the queue, then deletes that item.", nil},
		{'+', "get_backup", "Get a backup.\nThis tool will overwrite the local copy.", nil},
		{'+', "list_stale", "Lists stale branches and automatically deletes any older than a year.", nil},
		{'+', "check_link", "Check every link in the page and replace those that are broken; also update the index.", nil},
		{'+', "get_report", "Get the report. Also send it to the team.", nil},
		{'+', "get_report", "Deletes the report with the given id.", nil},
		{'+', "get_report", "This tool deletes a report.", nil},
		{'+', "validate_plan", "Validates the plan and applies it. Then modifies the state.", nil},
		{'+', "view_board", "View and edit the board's cards.", nil},
		{'+', "find_duplicates", "Find duplicate contacts and merge them.", nil},
		{'+', "lookup", "Looks up an address; then posts it to the channel.", nil},
		{'+', "search_notes", "Searches notes. Permanently removes what it finds.", nil},
		{'+', "get_config", "Returns the configuration. Writes a default file if it is missing.", nil},
		{'+', "card", "Move a card to another list.", nil},
		{'+', "labels", "Assigns labels to an email. Returns the labels it has now.", nil},
		{'+', "comment", "Returns the comments of a page.", nil},
		{'+', "terraform", "A tool to apply a plan.", nil},
		{'+', "delete_file", "Returns the content of the file before it goes.", readOnly},
		{'+', "get_item", "Gets an item.", notReadOnly},
		{'+', "invoice_reminder", "Send a reminder to a customer whose invoice is due.", nil},
		{'+', "status", "Sets the user's status.", nil},
		{'+', "user_details", "Set the details of a user.", nil},
		{'+', "get_next_job", "Claims the next job of the queue and returns it.", nil},
		{'+', "get_script", "Gets the script and runs it.", nil},
		{'+', "fetch_and_store", "Fetches a feed for later.", nil},
		{'+', "frobnicate", "Frobnicates the thing.", nil},
		{'+', "createUser", "Get started by making a user.", readOnly},

		{'-', "get_history", "Get the list of create and update events of a record.", nil},
		{'-', "get_news", "Returns the latest news and updates from the vendor.", nil},
		{'-', "get_times", "Returns when the file was created and updated.", nil},
		{'-', "search_docs", "Search the documentation on how to create or delete a cluster.", nil},
		{'-', "get_guide", "Get instructions to install the agent and update the configuration.", nil},
		{'-', "list_issues", "List issues so you can review and close the stale ones.", nil},
		{'-', "get_schema", "Get the schema of a table. Use this before you insert or update any row.", nil},
		{'-', "get_schema", "Get the schema of a table. Call this first and then create the query.", nil},
		{'-', "list_projects", "List projects. Add a filter to narrow the results.", nil},
		{'-', "list_projects", "List projects. Set the limit to get more. Send the cursor back for the next page.", nil},
		{'-', "fetch_page", "Sends a GET request to the URL and returns its body as Markdown.", nil},
		{'-', "search_web", "Executes a web search and returns the top results.", nil},
		{'-', "search_logs", "Submits a log query and waits for its result.", nil},
		{'-', "get_user", "Get a user. Does not create one when there is none, and never updates the directory.", nil},
		{'-', "get_user", "Get a user without changing or removing any field.", nil},
		{'-', "list_users", "List users who can delete a project or update its settings.", nil},
		{'-', "find_rule", "Find the rule that blocks or deletes a message.", nil},
		{'-', "get_diff", "Shows inserts, updates and deletes between two versions.", nil},
		{'-', "get_metrics", "Get the metrics of reads, writes and deletes per second.", nil},
		{'-', "preview_email", "Preview an email. To send it, use send_email.", nil},
		{'-', "get_task", "Get a task's title, assignee, and close date.", nil},
		{'-', "get_commit", "Gets one commit: author, date, message, files.", nil},
		{'-', "get_merge_request", "Get details of one merge request, including who may merge it.", readOnly},
		{'-', "list_deployments", "List the deployments of a service; newest first.", nil},
		{'-', "get_transfer", "Retrieve a transfer of money by its id.", nil},
		{'-', "get_payment_methods", "Returns the payment methods of a customer.", nil},
		{'-', "estimate_cost", "Estimates what it would cost to deploy the stack.", nil},
		{'-', "describe_instance", "Describes an instance. Stopped and terminated ones are shown for an hour.", nil},
		{'-', "read_file", "Reads a file. Must be called before an edit. Only works within allowed directories.", nil},
		{'-', "check_health", "Runs a check of each subsystem and reports what it found.", nil},
		{'-', "weather", "Get the weather for a city.", nil},
		{'-', "docs", "Search the docs.", readOnly},
		{'-', "blame", "Shows who last changed each line of a file.", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := map[string]any{"name": tt.name, "description": tt.description, "annotations": tt.hints}
			if v := c.Classify(parse(t, tool), "x"); v.Risky != (tt.want == '+') {
				t.Errorf("%q: got %s (%q), want %c", tt.description, v.Class, v.Evidence, tt.want)
			}
		})
	}
}

func TestClassifyReadingNames(t *testing.T) {
	c := newClassifier(t, nil, nil)
	for _, tt := range []struct {
		name  string
		class approvals.Class
	}{
		{"get_disable_firewall", approvals.Write},
		{"get_sudo", approvals.Execute},
		{"get_shutdown", approvals.Destructive},
		{"preview_transfer_funds", approvals.Execute},
		{"getTransferMoney", approvals.Execute},
		{"get_truncate_table", approvals.Destructive},
		{"get_user_delete_all", approvals.Destructive},
		{"fetch_kill_process", approvals.Destructive},
		{"describe_drop_table", approvals.Destructive},
		{"read_exec", approvals.Execute},
		{"get_eval_script", approvals.Execute},
		{"get_run_command", approvals.Execute},
		{"get_disable_firewall_status", approvals.Write},
		{"get_cancel_order", approvals.Execute},
		{"get_clear_cache", approvals.Destructive},
		{"get_grant_access", approvals.Write},
		{"getdelete", approvals.Destructive},
		{"deletefile", approvals.Destructive},
		{"createuser", approvals.Write},

		{"get_merge_request", approvals.Read},
		{"get_commit", approvals.Read},
		{"list_deployments", approvals.Read},
		{"get_transfer", approvals.Read},
		{"get_transfer_status", approvals.Read},
		{"get_payment_methods", approvals.Read},
		{"get_payment", approvals.Read},
		{"get_shutdown_history", approvals.Read},
		{"list_kill_events", approvals.Read},
		{"list_import_jobs", approvals.Read},
		{"get_kill_switch", approvals.Read},
		{"get_send_quota", approvals.Read},
		{"get_install_script", approvals.Read},
		{"getIssueCreateMeta", approvals.Read},
		{"get_eval_results", approvals.Read},
		{"list_disabled_users", approvals.Read},
		{"can_delete_repo", approvals.Read},
		{"get_cancel_policy", approvals.Read},
		{"get_clear_sky_forecast", approvals.Read},
		{"list_grants", approvals.Read},
		{"get_run_logs", approvals.Read},
		{"sendgrid_stats", approvals.Read},
		{"get_dropbox_file", approvals.Read},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := c.Classify(tools.Definition{Name: tt.name, Description: "Returns information."}, tt.name)
			if v.Class != tt.class {
				t.Errorf("got %s (%q), want %s", v.Class, v.Evidence, tt.class)
			}
		})
	}
}

func TestClassifyHandedParameters(t *testing.T) {
	readOnly := map[string]any{"readOnlyHint": true}
	text := func(about string) map[string]any { return map[string]any{"type": "string", "description": about} }
	c := newClassifier(t, nil, []string{"get_known"})
	for _, tt := range []struct {
		name, tool, param string
		schema            map[string]any
		trusted           bool
		class             approvals.Class
	}{
		{"a command", "get_data", "cmd", text("What to get."), false, approvals.Execute},
		{"a shell command", "get_data", "shell_command", text(""), false, approvals.Execute},
		{"a statement", "get_data", "sql", text("The statement."), false, approvals.Execute},
		{"in other letters", "get_data", "ｓql", text(""), false, approvals.Execute},
		{"a script", "list_things", "script", text(""), false, approvals.Execute},
		{"code that says nothing", "get_data", "code", map[string]any{}, false, approvals.Execute},
		{"code that runs", "get_data", "code", text("Python to run."), false, approvals.Execute},
		{"a command to check", "check_data", "command", text(""), false, approvals.Execute},
		{"a trusted server's word", "get_data", "sql", text(""), true, approvals.Read},
		{"a tool the user knows", "get_known", "cmd", text(""), false, approvals.Read},
		{"code that is a key", "get_country", "code", text("ISO 3166 code, such as FR."), false, approvals.Read},
		{"a listed command", "get_data", "script", map[string]any{"enum": []string{"a", "b"}}, false, approvals.Read},
		{"a number", "get_error", "code", map[string]any{"type": "integer"}, false, approvals.Read},
		{"a pattern", "get_data", "expression", map[string]any{"type": "string", "pattern": "^[a-z]+$"}, false, approvals.Read},
		{"code to examine", "explain_code", "code", text("Python source."), false, approvals.Read},
		{"a statement to examine", "validate_sql", "sql", text(""), false, approvals.Read},
		{"a command to explain", "explain_command", "command", text(""), false, approvals.Read},
		{"a query", "query_metrics", "query", text(""), false, approvals.Read},
	} {
		t.Run(tt.name, func(t *testing.T) {
			def := parseFor(t, "srv", map[string]any{
				"name": tt.tool, "description": "Returns information.", "annotations": readOnly,
				"inputSchema": map[string]any{"type": "object", "properties": map[string]any{tt.param: tt.schema}},
			}, tt.trusted)
			if v := c.Classify(def, tt.tool); v.Class != tt.class {
				t.Errorf("got %s (%q), want %s", v.Class, v.Evidence, tt.class)
			}
		})
	}
}
