import type { MatchExpression } from '../syntax/expression.ts';
import { inScope } from './body.ts';
import { Branches, checkCondition } from './check-control.ts';
import { bindPattern } from './check-pattern.ts';
import type { Body } from './context.ts';
import { Ways } from './flow.ts';
import { reportCoverage } from './report-coverage.ts';
import { NEVER, type Type } from './types.ts';

export function checkMatch(body: Body, node: MatchExpression, expected: Type | undefined): Type {
  const unused = body.cx.unused.has(node.id);
  const scrutinee = body.check(node.scrutinee);
  const branches = new Branches(body, { expected, unused, what: 'the arms of a `match` have one type' });
  const ways = new Ways(body);
  for (const arm of node.arms) {
    const way = (): void => {
      bindPattern(body, arm.pattern, scrutinee, { mutable: false, purpose: 'match' });
      if (arm.guard !== undefined) checkCondition(body, arm.guard, 'guard');
      if (unused) body.cx.unused.add(arm.body.id);
      branches.add(arm.body, body.check(arm.body, expected));
    };
    ways.walk(() => inScope(body, way));
  }
  const allDiverge = node.arms.length > 0 && ways.meet();
  const { file } = body.cx.report;
  // What the value is may only be known when the whole body is.
  body.cx.later.push(() => reportCoverage(body.cx, node, scrutinee, file));
  return allDiverge && !unused ? NEVER : branches.result();
}
