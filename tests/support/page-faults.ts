import type { Page } from 'playwright-core';

const mustHaveNames = /^\s*- (button|link|textbox|radio|checkbox|meter|progressbar|dialog|log)(:| \[.*| *)$/;

/** What a screen reader could not name on this page: the lines of its accessibility tree. */
export async function namelessControls(page: Page): Promise<readonly string[]> {
  const tree = await page.locator('body').ariaSnapshot();
  return tree.split('\n').filter((line) => mustHaveNames.test(line));
}

/** Texts whose contrast to what is behind them is under 4.5 to 1. */
export async function faintTexts(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const rgba = (color: string): number[] => {
      if (canvas === null) return [0, 0, 0, 1];
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data].map((value) => value / 255);
    };
    const backgroundOf = (element: Element | null): number[] => {
      if (element === null) return [1, 1, 1, 1];
      const color = rgba(getComputedStyle(element).backgroundColor);
      return (color[3] ?? 0) > 0.99 ? color : backgroundOf(element.parentElement);
    };
    const luminance = ([r = 0, g = 0, b = 0]: number[]): number => {
      const linear = (value: number): number => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
      return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const faint: string[] = [];
    while (walker.nextNode() !== null) {
      const text = walker.currentNode.textContent?.trim() ?? '';
      const element = walker.currentNode.parentElement;
      if (text === '' || element === null || !element.checkVisibility()) continue;
      if (element.closest(':disabled, [aria-hidden=true], .visually-hidden, noscript') !== null) continue;
      const pair = [luminance(rgba(getComputedStyle(element).color)), luminance(backgroundOf(element))];
      const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
      if (ratio < 4.5) faint.push(`${ratio.toFixed(2)} ${element.className}: ${text.slice(0, 40)}`);
    }
    return faint;
  });
}
