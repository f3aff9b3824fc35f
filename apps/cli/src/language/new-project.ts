/** The files of a new project. */

type Provider = 'mock' | 'openai' | 'anthropic' | 'google' | 'ollama';

const CONNECTIONS: { readonly [provider in Provider]: readonly string[] } = {
  mock: [
    '# Answers offline. For a real one: provider = "openai" (or "anthropic", "google"), api_key_env = "NAME".',
    'provider = "mock"',
  ],
  openai: ['provider = "openai"', 'api_key_env = "OPENAI_API_KEY"', 'default_model = "gpt-4o"'],
  anthropic: ['provider = "anthropic"', 'api_key_env = "ANTHROPIC_API_KEY"', 'default_model = "claude-sonnet-4-5"'],
  google: ['provider = "google"', 'api_key_env = "GOOGLE_API_KEY"', 'default_model = "gemini-2.5-flash"'],
  ollama: ['provider = "ollama"', 'base_url = "http://127.0.0.1:11434"', 'default_model = "llama3.2"'],
};

export function manifestText(name: string, provider: Provider): string {
  return `[project]
name = "${name}"
version = "0.1.0"
entry = "src/main.conc"

[connections.main]
${CONNECTIONS[provider].join('\n')}

# What \`concerto serve\` offers to start; agents are [agents.NAME] with a command.
[programs.${name}]
entry = "src/main.conc"
`;
}

export function mainProgram(): string {
  return `model Assistant {
    provider: main,
    system_prompt: "You answer in one short sentence.",
}

/// How to greet somebody.
fn greeting(name: String) -> String {
    "Hello, \${name}!"
}

fn main() {
    emit("greeting", greeting("world"));
    match Assistant.execute("What is a concerto?") {
        Ok(reply) => emit("answer", reply.text),
        Err(e) => emit("failed", e.message),
    }
}

@test
fn greets_by_name() {
    assert_eq(greeting("Ada"), "Hello, Ada!");
}

@test("the assistant's answer is used")
fn answers() {
    mock Assistant { response: "Music for a soloist and an orchestra." }
    match Assistant.execute("What is a concerto?") {
        Ok(reply) => assert_eq(reply.text, "Music for a soloist and an orchestra."),
        Err(e) => assert(false, e.message),
    }
}
`;
}

export function gitignore(): string {
  return '.concerto/\n.env\n*.conc-ir\n';
}

export function readme(name: string, provider: Provider): string {
  return `# ${name}

    concerto check    # types and names
    concerto test     # the functions with @test
    concerto run      # main
    concerto serve    # the web page, where the program is started as a session

\`Concerto.toml\` says which model provider answers: ${provider === 'mock' ? 'the offline mock, until you change it' : `${provider}; \`concerto run --mock\` runs it offline`}.
`;
}
