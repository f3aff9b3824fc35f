import { type BudgetView, budgetUnits } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { budgetText } from './budget-text.ts';

/** From here on it is near its end, as the session itself says. */
const nearPercent = 80;

/** What a session may use, and how much of it is used. */
export function BudgetMeter({ budget }: { readonly budget: BudgetView }): ReactNode {
  const { limits, spent } = budget;
  return budgetUnits.flatMap((unit) => {
    const limit = limits[unit];
    if (limit === undefined) return [];
    const used = spent[unit] ?? 0;
    const percent = Math.min(100, Math.round((used / limit) * 100));
    const told = budgetText(budget, unit);
    return (
      <span key={unit} className="context" data-tight={percent >= nearPercent} title={`${percent} %`}>
        <meter min={0} max={100} value={percent} aria-label={`Budget of ${unit}`} aria-valuetext={told} />
        {told}
      </span>
    );
  });
}
