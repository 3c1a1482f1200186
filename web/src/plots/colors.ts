/** Colours of flows and phases. Order and hues after Okabe and Ito, for readers of any sight. */

import { theme } from "../state/theme";

const FLOWS = {
  light: ["#0072b2", "#c04a00", "#00795a", "#9a4a7c", "#8a6a00", "#2a7fb8", "#5b4b9a", "#4d4d4d"],
  dark: ["#56b4e9", "#ff8a4c", "#2fc796", "#e08cc0", "#e6c33a", "#9ad1f5", "#a99be8", "#c0c0c0"],
};

/** Of the flow with this number. */
export function flowColor(number: number): string {
  const colors = FLOWS[theme.value];
  return colors[number % colors.length] as string;
}

/** A second flow of a colour differs by its dashes. */
export function flowDash(number: number): number[] {
  const round = Math.floor(number / FLOWS.light.length) % 3;
  return [[], [6, 3], [2, 3]][round] as number[];
}

/** A colour of the style sheet, for canvases. */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
