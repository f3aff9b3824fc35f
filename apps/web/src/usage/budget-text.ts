import { type BudgetUnit, type BudgetView, budgetUnits } from '@concerto/protocol';
import { dollarsText, tokensText } from './usage-text.ts';

/** How much of what there may be is used, of each unit that is limited: `about 1,200 of 2,000 tokens`. */
export function budgetTexts(budget: BudgetView, units: readonly BudgetUnit[] = budgetUnits): readonly string[] {
  return units.flatMap((unit) => {
    const text = budgetText(budget, unit);
    return text === undefined ? [] : [text];
  });
}

export function budgetText({ limits, spent, isEstimate }: BudgetView, unit: BudgetUnit): string | undefined {
  const limit = limits[unit];
  if (limit === undefined) return undefined;
  const about = isEstimate === true && (unit === 'usd' || unit === 'tokens') ? 'about ' : '';
  return `${about}${figureText(unit, spent[unit] ?? 0)} of ${amountText(unit, limit)}`;
}

function amountText(unit: BudgetUnit, amount: number): string {
  if (unit === 'usd') return figureText(unit, amount);
  return `${figureText(unit, amount)} ${amount === 1 ? one[unit] : unit}`;
}

const one = { tokens: 'token', turns: 'turn', minutes: 'minute' } as const;

function figureText(unit: BudgetUnit, amount: number): string {
  if (unit === 'usd') return dollarsText(amount * 1e6);
  if (unit === 'tokens' && amount >= 10_000) return tokensText(amount);
  return (Math.round(amount * 10) / 10).toLocaleString();
}
