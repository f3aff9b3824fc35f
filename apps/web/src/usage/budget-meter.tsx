import { type BudgetUnit, type BudgetView, budgetUnits } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { dollarsText, tokensText } from './usage-text.ts';

/** From here on it is near its end, as the session itself says. */
const nearPercent = 80;

/** What a session may use, and how much of it is used. */
export function BudgetMeter({ budget }: { readonly budget: BudgetView }): ReactNode {
  const { limits, spent, isEstimate } = budget;
  return budgetUnits.flatMap((unit) => {
    const limit = limits[unit];
    if (limit === undefined) return [];
    const used = spent[unit] ?? 0;
    const percent = Math.min(100, Math.round((used / limit) * 100));
    const told = `${isEstimate === true && (unit === 'usd' || unit === 'tokens') ? 'about ' : ''}${amountText(unit, used)} of ${amountText(unit, limit)}`;
    return (
      <span key={unit} className="context" data-tight={percent >= nearPercent} title={`${percent} %`}>
        <meter min={0} max={100} value={percent} aria-label={`Budget of ${unit}`} aria-valuetext={told} />
        {told}
      </span>
    );
  });
}

function amountText(unit: BudgetUnit, amount: number): string {
  switch (unit) {
    case 'usd':
      return dollarsText(amount * 1e6);
    case 'tokens':
      return tokensText(amount);
    case 'turns':
      return `${amount} ${amount === 1 ? 'turn' : 'turns'}`;
    case 'minutes':
      return `${Math.round(amount * 10) / 10} min`;
  }
}
