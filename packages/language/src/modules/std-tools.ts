/** The name of the module, and of its file in diagnostics and traces. */
export const STD_TOOLS = 'std::tools';

/** Is `std::tools`, or `tools` out of a group of `std`, in the text? Once too often does no harm. */
export function mentionsStdTools(text: string): boolean {
  return /\bstd\s*::[^;]*\btools\b/.test(text);
}

/** Tools for models that many programs would write in the same way; in the language itself. */
export const STD_TOOLS_TEXT = String.raw`
const MOST_CHARACTERS: Int = 100_000;
const SECRET_NAMES: Array<String> = [
    ".env",
    ".npmrc",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    ".ssh",
    ".aws",
    ".concerto",
];

pub tool HttpTool {
    description: "Reads and changes things over HTTP",

    @describe("Gets the text at an address")
    @param("url", "The whole address, with http:// or https://")
    pub fn get(self, url: String) -> Result<String, ToolError> {
        said(std::http::public("GET", url))
    }

    @describe("Sends JSON to an address, and gives the answer")
    @param("url", "The whole address, with http:// or https://")
    @param("json", "The JSON to send, as text")
    @permission("ask")
    pub fn post(self, url: String, json: String) -> Result<String, ToolError> {
        match std::json::parse(json) {
            Ok(body) => said(std::http::public("POST", url, body)),
            Err(problem) => Err(ToolError::new("json: ${'$'}{problem}")),
        }
    }
}

pub tool FileTool {
    description: "Reads and writes files below the folder the program runs in",

    @describe("The text of a file")
    @param("path", "Where it is, relative to the folder")
    pub fn read(self, path: String) -> Result<String, ToolError> {
        below(path)?;
        std::fs::read_file(path)
            .map(|text| shortened(text))
            .map_err(|problem| ToolError::new(problem))
    }

    @describe("The names in a folder")
    @param("path", "Where it is, relative to the folder; . for the folder itself")
    pub fn list(self, path: String) -> Result<Array<String>, ToolError> {
        below(path)?;
        std::fs::list_dir(path).map_err(|problem| ToolError::new(problem))
    }

    @describe("Writes a file, and replaces what was there")
    @param("path", "Where it is, relative to the folder")
    @param("text", "All that will be in it")
    @permission("ask")
    pub fn write(self, path: String, text: String) -> Result<String, ToolError> {
        below(path)?;
        std::fs::write_file(path, text)
            .map(|_| "written")
            .map_err(|problem| ToolError::new(problem))
    }
}

fn said(answer: Result<HttpResponse, String>) -> Result<String, ToolError> {
    match answer {
        Ok(response) if response.status < 400 => Ok(shortened("${'$'}{response.body}")),
        Ok(response) => Err(ToolError::new(shortened("${'$'}{response.status}: ${'$'}{response.body}"))),
        Err(problem) => Err(ToolError::new(problem)),
    }
}

fn shortened(text: String) -> String {
    if text.len() <= MOST_CHARACTERS { text } else { text.slice(0, MOST_CHARACTERS) + "…" }
}

fn below(path: String) -> Result<Nil, ToolError> {
    let parts = path.replace("\\", "/").split("/");
    let isOutside = parts[0] == ""
        || parts[0].contains(":")
        || parts[0].starts_with("~")
        || parts.contains("..");
    if isOutside { return Err(ToolError::new("${'$'}{path}: is not below the folder")); }
    for part in parts {
        for name in SECRET_NAMES {
            if part.to_lower().starts_with(name) {
                return Err(ToolError::new("${'$'}{path}: may hold secrets, and is not for a model"));
            }
        }
    }
    Ok(nil)
}
`;
