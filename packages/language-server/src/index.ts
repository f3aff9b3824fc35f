export { type LanguageServerOptions, serveLanguage } from './serve-language.ts';
