// What ink.js offers the scripts that are put behind it in one file.

declare const ODD: { ground: string; ink: string };
declare const pen: CanvasRenderingContext2D;
declare function cut(text: string, room: number): string;
declare function svg(parent: Element, kind: string, attributes: Record<string, string | number>, word?: string): SVGElement;
declare function minus(text: string): string;
declare function share(number: number, room: number): string;
declare function decimals(numbers: number[], room: number): number;
declare function short(number: number, places: number): string;
declare function contrast(scale: string[], place: number): string;
declare function mixed(scale: string[], place: number): string;
