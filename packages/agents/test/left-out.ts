type Reason = readonly [pattern: RegExp, reason: string];

/** What each message is called, numbered and stamped with: that is what the wire needs, and our log has its own. */
const envelope: readonly Reason[] = [
  [
    /\.(type|subtype|method|jsonrpc|id|uuid|run_id|turnId|rootTurnId|sessionUpdate|itemsView)$/,
    'how the wire names and numbers its messages',
  ],
  [
    /\.(timestamp|emittedAtMs|startedAtMs|completedAtMs|startedAt|completedAt|createdAt|updatedAt|recencyAt|end_time)$/,
    'our log stamps what it keeps',
  ],
  [/\.role$/, 'told by the kind of the event'],
];

/** What the wires say and we do not, by protocol, each with why. A field that is in no list fails the test. */
export const leftOut: Readonly<Record<'claude' | 'codex' | 'acp', readonly Reason[]>> = {
  claude: [
    ...envelope,
    [
      /^control_response\.response\.response\.(agents|feedback_mode|pid|session_state|buildTime|capabilities|user_output_styles_dir)/,
      "the program's own affairs; its version and what can be switched are in agentInfo",
    ],
    [/\.fast_mode_(state|disabled_reason)$/, 'a switch of the program that we do not offer'],
    [
      /^control_request\.request\.permission_suggestions\.destination$/,
      'where it would write the rule; the words of the option tell what it allows',
    ],
    [
      /^assistant\.message\.content\.input\.(activeForm|status|todos)/,
      'a call that keeps the list of steps; the plan tells them, unless the program refused the call',
    ],
    [
      /^user\.(tool_use_result|message\.content\.content\.text)/,
      'said in the result of the call; of work in the background its end is told instead',
    ],
    [
      /^stream_event\.event\.(delta\.partial_json|usage)/,
      'pieces of what the whole message says; the sum is in the usage',
    ],
    [/^stream_event\.(thinking_display|ttft_ms)$/, 'how long the model took to its first word'],
    [
      /^result\/success\.(ttft|first_content_frame|time_to_request|duration_(api_)?ms)/,
      'the duration of the turn is told as the sum of its parts',
    ],
    [
      /^result\/success\.(modelUsage|model_usage_since_last_result)\..*\.(costBasis|costUSD|maxOutputTokens)$/,
      'told as the difference to the bill before',
    ],
    [
      /^result\/success\.(total_cost_usd|usage\.(service_tier|speed)|terminal_reason|origin)/,
      'the cost is told as the difference to the bill before; the rest only of a failure',
    ],
    [
      /^system\/(init|status)\./,
      'what the program can do with its terminal; its model, mode, tools and servers are in agentInfo',
    ],
    [/^system\/background_tasks_changed\.tasks/, 'each task is told with its call'],
    [/^system\/task_(started\.task_type|progress\.usage|updated)/, 'the last count is told with the end of the task'],
  ],
  codex: [
    ...envelope,
    [
      /^answer\.result\.(codexHome|platformFamily|platformOs|userAgent|approvalsReviewer|modelProvider|multiAgentMode)/,
      "the program's own affairs; its version, model and policies are in agentInfo",
    ],
    [/^answer\.result\.thread\./, 'where and how the program keeps its thread, which is named by `conversation`'],
    [/^answer\.result\.turn\./, 'a turn is told when it ends'],
    [/^answer\.result\.data\./, 'tiers and efforts of its models; each is offered by name with its description'],
    [
      /^(account\/rateLimits|remoteControl|thread\/readState|thread\/status|serverRequest\/resolved)/,
      'nothing is limited; the rest is about its own views',
    ],
    [/\.commandActions\.type$/, 'told as the kind of the call'],
    [/\.(item|params)\.command$/, 'wrapped in a shell; the command as it was meant is told'],
    [/requestApproval\.params\.(environmentId|availableDecisions)$/, 'the decisions are offered as options'],
    [
      /^item\/(started|completed)\.params\.item\.(status|source|content\.text)$/,
      'told as the outcome of the call; the user message is our own',
    ],
    [/^item\/(started|completed)\.params\.item\.kind$/, 'of a sub-agent: told as the begin and the end of its call'],
    [/^turn\/(started|completed)\.params\.turn\.(status|durationMs)$/, 'told by how the turn ends'],
  ],
  acp: [
    ...envelope,
    [/^_auth\//, 'how it is logged in; that it is not is an error of the start'],
    [/^answer\.result\.authMethods/, 'told where a login is wanted'],
    [
      /^answer\.result\.configOptions\.(name|description)$/,
      'the models and modes of it are offered by their own names',
    ],
    [/totalTokens$/, 'the sum of two that are told'],
    [/^fs\//, 'a request that we have not offered to serve'],
    [/\.content\._meta\.kind$/, 'told as the kind of the change'],
    [/\.(toolCall|update)\.status$/, 'told as the outcome of the call'],
    [/toolResponse\.file\.(numLines|totalLines)$/, 'the text that was read is told'],
    [
      /^session\/update\/usage_update\.params\.update\.(cost|_meta)/,
      'the cost is told as the difference to the one before',
    ],
  ],
};
