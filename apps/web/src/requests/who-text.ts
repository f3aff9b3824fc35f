/** `user:ann`, `rule:agents.claude.3`, `supervisor:guard`, `model:Architect`, `program:ID` as one reads them. */
export function whoText(actor: string | undefined): string {
  if (actor === undefined) return 'someone';
  const [kind = '', ...rest] = actor.split(':');
  const name = rest.join(':');
  if (name === '') return actor === 'user' ? 'owner' : actor;
  return kind === 'user' ? name : `${kind} ${name}`;
}
