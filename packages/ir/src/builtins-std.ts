import type { BuiltinSpec } from './builtins.ts';

/** The standard library. */
export const STD = {
  'std::math::abs': { signature: 'fn<N>(n: N) -> N', help: 'Absolute value' },
  'std::math::min': { signature: 'fn<N>(a: N, b: N) -> N', help: 'The smaller one' },
  'std::math::max': { signature: 'fn<N>(a: N, b: N) -> N', help: 'The larger one' },
  'std::math::clamp': { signature: 'fn<N>(x: N, low: N, high: N) -> N', help: 'x, but not below low or above high' },
  'std::math::round': { signature: 'fn(x: Float) -> Int', help: 'Nearest Int, half away from zero' },
  'std::math::floor': { signature: 'fn(x: Float) -> Int', help: 'Largest Int not above x' },
  'std::math::ceil': { signature: 'fn(x: Float) -> Int', help: 'Smallest Int not below x' },
  'std::math::trunc': { signature: 'fn(x: Float) -> Int', help: 'x without its fraction' },
  'std::math::pow': {
    signature: 'fn<N>(base: N, exponent: N) -> Any',
    help: 'Power: an Int for Int and an exponent of at least 0, else a Float',
  },
  'std::math::sqrt': { signature: 'fn(x: Float) -> Float', help: 'Square root' },
  'std::math::log': { signature: 'fn(x: Float) -> Float', help: 'Natural logarithm' },
  'std::math::exp': { signature: 'fn(x: Float) -> Float', help: 'e to the power of x' },
  'std::math::sin': { signature: 'fn(x: Float) -> Float', help: 'Sine' },
  'std::math::cos': { signature: 'fn(x: Float) -> Float', help: 'Cosine' },
  'std::math::pi': { signature: 'fn() -> Float', help: '3.14159…' },
  'std::math::random': {
    signature: 'fn() -> Float',
    effect: true,
    help: 'A random Float from 0 up to, not including, 1',
  },
  'std::math::random_int': {
    signature: 'fn(low: Int, high: Int) -> Int',
    effect: true,
    help: 'A random Int from low to high, both included',
  },
  'std::random::float': {
    signature: 'fn() -> Float',
    effect: true,
    help: 'A random Float from 0 up to, not including, 1',
  },
  'std::random::int': {
    signature: 'fn(low: Int, high: Int) -> Int',
    effect: true,
    help: 'A random Int from low to high, both included',
  },

  'std::string::split': {
    signature: 'fn(s: String, separator: String) -> Array<String>',
    help: 'Parts between separators; characters for an empty one',
  },
  'std::string::join': {
    signature: 'fn(parts: Array<Any>, separator: String) -> String',
    help: 'Parts with a separator between',
  },
  'std::string::trim': { signature: 'fn(s: String) -> String', help: 'Without white space at both ends' },
  'std::string::trim_start': { signature: 'fn(s: String) -> String', help: 'Without white space at the start' },
  'std::string::trim_end': { signature: 'fn(s: String) -> String', help: 'Without white space at the end' },
  'std::string::replace': {
    signature: 'fn(s: String, from: String, to: String) -> String',
    help: 'Every occurrence replaced',
  },
  'std::string::to_upper': { signature: 'fn(s: String) -> String', help: 'Upper case' },
  'std::string::to_lower': { signature: 'fn(s: String) -> String', help: 'Lower case' },
  'std::string::contains': { signature: 'fn(s: String, part: String) -> Bool', help: 'Whether part occurs' },
  'std::string::starts_with': { signature: 'fn(s: String, part: String) -> Bool', help: 'Whether it starts with part' },
  'std::string::ends_with': { signature: 'fn(s: String, part: String) -> Bool', help: 'Whether it ends with part' },
  'std::string::substring': {
    signature: 'fn(s: String, start: Int, end?: Int) -> String',
    help: 'Characters from start to before end, clamped',
  },
  'std::string::index_of': { signature: 'fn(s: String, part: String) -> Option<Int>', help: 'Where part first occurs' },
  'std::string::len': { signature: 'fn(s: String) -> Int', help: 'Number of characters' },
  'std::string::repeat': { signature: 'fn(s: String, times: Int) -> String', help: 'Repeated' },
  'std::string::reverse': { signature: 'fn(s: String) -> String', help: 'Characters in reverse order' },
  'std::string::parse_int': { signature: 'fn(s: String) -> Result<Int, String>', help: 'The Int the text shows' },
  'std::string::parse_float': { signature: 'fn(s: String) -> Result<Float, String>', help: 'The Float the text shows' },

  'std::env::get': { signature: 'fn(name: String) -> Option<String>', effect: true, help: 'An environment variable' },
  'std::env::require': {
    signature: 'fn(name: String) -> Result<String, String>',
    effect: true,
    help: 'An environment variable that must be set',
  },
  'std::env::all': { signature: 'fn() -> Map<String, String>', effect: true, help: 'All environment variables' },
  'std::env::has': { signature: 'fn(name: String) -> Bool', effect: true, help: 'Whether the variable is set' },

  'std::time::now': { signature: 'fn() -> String', effect: true, help: 'Now as ISO 8601 in UTC with milliseconds' },
  'std::time::now_ms': { signature: 'fn() -> Int', effect: true, help: 'Milliseconds since 1970' },
  'std::time::sleep': { signature: 'fn(ms: Int) -> Nil', effect: true, help: 'Waits' },
  'std::time::measure': {
    signature: 'fn<T>(f: fn() -> T) -> (T, Int)',
    effect: true,
    help: 'The value of f and how many milliseconds it took',
  },

  'std::json::parse': { signature: 'fn(text: String) -> Result<Any, String>', help: 'A value out of JSON text' },
  'std::json::parse_as': {
    signature: 'fn<T>(text: String) -> Result<T, SchemaError>',
    typeArguments: true,
    help: 'A value out of JSON text, checked against a type',
  },
  'std::json::stringify': { signature: 'fn(value: Any) -> String', help: 'Compact JSON' },
  'std::json::stringify_pretty': { signature: 'fn(value: Any, indent?: Int) -> String', help: 'Indented JSON' },
  'std::json::is_valid': { signature: 'fn(text: String) -> Bool', help: 'Whether the text is JSON' },

  'std::fmt::format': {
    signature: 'fn(template: String, args: Array<Any>) -> String',
    help: 'Replaces each {} by the next argument',
  },
  'std::fmt::pad_left': { signature: 'fn(s: Any, width: Int, fill?: String) -> String', help: 'Filled up at the left' },
  'std::fmt::pad_right': {
    signature: 'fn(s: Any, width: Int, fill?: String) -> String',
    help: 'Filled up at the right',
  },
  'std::fmt::truncate': {
    signature: 'fn(s: String, width: Int) -> String',
    help: 'At most width characters, ... at the end when cut',
  },
  'std::fmt::indent': { signature: 'fn(s: String, width: Int) -> String', help: 'Each line moved to the right' },

  'std::log::info': { signature: 'fn(...values: Any) -> Nil', effect: true, help: 'Writes [INFO] to stderr' },
  'std::log::warn': { signature: 'fn(...values: Any) -> Nil', effect: true, help: 'Writes [WARN] to stderr' },
  'std::log::error': { signature: 'fn(...values: Any) -> Nil', effect: true, help: 'Writes [ERROR] to stderr' },
  'std::log::debug': { signature: 'fn(...values: Any) -> Nil', effect: true, help: 'Writes [DEBUG] to stderr' },

  'std::fs::read_file': {
    signature: 'fn(path: String) -> Result<String, String>',
    effect: true,
    help: 'The text of a file',
  },
  'std::fs::write_file': {
    signature: 'fn(path: String, text: String) -> Result<Nil, String>',
    effect: true,
    help: 'Writes a file',
  },
  'std::fs::append_file': {
    signature: 'fn(path: String, text: String) -> Result<Nil, String>',
    effect: true,
    help: 'Adds to a file',
  },
  'std::fs::exists': {
    signature: 'fn(path: String) -> Bool',
    effect: true,
    help: 'Whether there is such a file or directory',
  },
  'std::fs::list_dir': {
    signature: 'fn(path: String) -> Result<Array<String>, String>',
    effect: true,
    help: 'Names in a directory, sorted',
  },
  'std::fs::remove_file': {
    signature: 'fn(path: String) -> Result<Nil, String>',
    effect: true,
    help: 'Removes a file',
  },
  'std::fs::file_size': { signature: 'fn(path: String) -> Result<Int, String>', effect: true, help: 'Size in bytes' },

  'std::collections::Set::new': { signature: 'fn<T>() -> Set<T>', help: 'An empty set' },
  'std::collections::Set::from': { signature: 'fn<T>(items: Array<T>) -> Set<T>', help: 'A set of the items' },
  'std::collections::Queue::new': { signature: 'fn<T>() -> Queue<T>', help: 'An empty queue' },
  'std::collections::Queue::from': {
    signature: 'fn<T>(items: Array<T>) -> Queue<T>',
    help: 'A queue; the first item leaves first',
  },
  'std::collections::Stack::new': { signature: 'fn<T>() -> Stack<T>', help: 'An empty stack' },
  'std::collections::Stack::from': {
    signature: 'fn<T>(items: Array<T>) -> Stack<T>',
    help: 'A stack; the last item is on top',
  },

  'std::http::get': {
    signature: 'fn(url: String, headers?: Map<String, String>) -> Result<HttpResponse, String>',
    effect: true,
    help: 'GET',
  },
  'std::http::post': {
    signature: 'fn(url: String, body?: Any, headers?: Map<String, String>) -> Result<HttpResponse, String>',
    effect: true,
    help: 'POST; the body is sent as JSON',
  },
  'std::http::put': {
    signature: 'fn(url: String, body?: Any, headers?: Map<String, String>) -> Result<HttpResponse, String>',
    effect: true,
    help: 'PUT; the body is sent as JSON',
  },
  'std::http::delete': {
    signature: 'fn(url: String, headers?: Map<String, String>) -> Result<HttpResponse, String>',
    effect: true,
    help: 'DELETE',
  },
  'std::http::request': {
    signature:
      'fn(method: String, url: String, body?: Any, headers?: Map<String, String>) -> Result<HttpResponse, String>',
    effect: true,
    help: 'Any method; the body is sent as JSON',
  },
  'std::http::public': {
    signature:
      'fn(method: String, url: String, body?: Any, headers?: Map<String, String>) -> Result<HttpResponse, String>',
    effect: true,
    help: 'As `request`, for addresses that somebody else chose: nothing that only this machine or its network reaches, whatever its name or redirect, unless `CONCERTO_HTTP_HOSTS` lists it',
  },

  'std::crypto::sha256': { signature: 'fn(text: String) -> String', help: 'SHA-256 of the UTF-8 text in hex' },
  'std::crypto::md5': { signature: 'fn(text: String) -> String', help: 'MD5 of the UTF-8 text in hex' },
  'std::crypto::uuid': { signature: 'fn() -> String', effect: true, help: 'A random UUID' },
  'std::crypto::random_bytes': { signature: 'fn(count: Int) -> String', effect: true, help: 'Random bytes in hex' },

  'std::prompt::template': {
    signature: 'fn(text: String, values: Map<String, Any>) -> String',
    help: 'Replaces ${name} by the value of that name',
  },
  'std::prompt::from_file': {
    signature: 'fn(path: String, values?: Map<String, Any>) -> Result<String, String>',
    effect: true,
    help: 'A template out of a file',
  },
  'std::prompt::count_tokens': { signature: 'fn(text: String) -> Int', help: 'An estimate: four thirds of the words' },
} as const satisfies Record<string, BuiltinSpec>;
