import { Budget, type BudgetUnit, type BudgetView, budgetUnits } from '@concerto/protocol';
import { UsageError } from '../arguments.ts';

/** `tokens=1000,usd=0.5` as it is typed. */
export function readBudget(text: string): Budget {
  const amounts = Object.fromEntries(
    text.split(',').map((part) => {
      const [unit = '', amount = ''] = part.split('=').map((word) => word.trim());
      return [unit, amount === '' ? Number.NaN : Number(amount)];
    }),
  );
  const parsed = Budget.safeParse(amounts);
  if (parsed.success) return parsed.data;
  throw new UsageError(`--budget is a list such as tokens=100000,usd=0.5; there are ${budgetUnits.join(', ')}`);
}

/** `812 of 1000 tokens (about), 1 of 3 turns`. */
export function budgetText({ limits, spent, isEstimate }: BudgetView): string {
  const texts = budgetUnits.flatMap((unit) => {
    const limit = limits[unit];
    if (limit === undefined) return [];
    const about = isEstimate === true && (unit === 'usd' || unit === 'tokens') ? 'about ' : '';
    return [`${about}${amount(unit, spent[unit] ?? 0)} of ${amount(unit, limit)}${unit === 'usd' ? '' : ` ${unit}`}`];
  });
  return texts.join(', ');
}

function amount(unit: BudgetUnit, figure: number): string {
  if (unit === 'usd') return `$${figure.toFixed(figure < 0.01 ? 4 : 2)}`;
  return String(unit === 'minutes' ? Math.round(figure * 10) / 10 : figure);
}
