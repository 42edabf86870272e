/** Paths of the icons, drawn with a line of 1.5 on a square of 16. */
export const ICONS = {
  "chevron-right": "M6 4l4 4-4 4",
  "chevron-down": "M4 6l4 4 4-4",
  "arrow-up": "M8 13V3M4 7l4-4 4 4",
  "arrow-down": "M8 3v10M4 9l4 4 4-4",
  check: "M3.500 8.500l3 3 6-7",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  more: "M3.500 8h.01M8 8h.01M12.500 8h.01",
  search: "M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM10.500 10.500L14 14",
  file: "M4 1.800h5l3 3v9.400H4zM9 1.800v3h3",
  folder: "M1.800 4.200h4.400l1.400 1.600h6.600v7.200H1.800z",
  open: "M1.800 12.600V3.600h4l1.400 1.600h5v2M1.800 12.600l2-5.400h10.400l-2 5.400z",
  undo: "M5.500 3L2.500 6l3 3M2.500 6h7a3.500 3.500 0 0 1 0 7H6",
  redo: "M10.500 3l3 3-3 3M13.500 6h-7a3.500 3.500 0 0 0 0 7H10",
  layout: "M2 3h12v10H2zM2 7h12M8 7v6",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13.500 9.500A6 6 0 0 1 6.500 2.500a6 6 0 1 0 7 7z",
  auto: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  command: "M3 4l3.500 4L3 12M8 12.500h5.500",
  keyboard: "M1.500 4h13v8h-13zM4 7h.01M7 7h.01M10 7h.01M12.500 7h.01M5 9.700h6",
  warning: "M8 2.200L14.500 13.500h-13zM8 6.500v3.200M8 11.600v.2",
  error: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 5v3.800M8 10.900v.2",
  info: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.400v3.600M8 5v.2",
  help: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM6.200 6.500a1.800 1.800 0 1 1 2.700 1.500c-.6.4-.9.7-.9 1.400M8 11.200v.2",
  download: "M8 2v8M4.800 7L8 10.200 11.200 7M2.500 13.500h11",
  trash: "M2.500 4h11M6 4V2.500h4V4M4 4l.7 9.500h6.600L12 4M6.700 6.500v4.500M9.300 6.500v4.500",
  clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.800V8l2.200 1.500",
  tree: "M3 3h4M6 8h5M9 13h4M4 3v5h2M7.500 8v5H9",
  flame: "M2 13h12M2 9.500h8.500M2 6h5M2 2.500h2.500",
  callers: "M3 13h4M6 8h5M9 3h4M4 13V8h2M7.500 8V3H9",
  list: "M2.500 4h11M2.500 8h11M2.500 12h11",
  filter: "M2 3h12L9.500 8.500v4l-3 1.500V8.500z",
  chart: "M2.500 2.500v11h11M5 10.500l3-3.500 2 2 3.500-4.500",
  bars: "M2.500 13.500h11M4.500 13.500V9M8 13.500V3.500M11.500 13.500V6.500",
  map: "M2.500 2.500h11v11h-11zM6.200 2.500v11M9.800 2.500v11M2.500 6.200h11M2.500 9.800h11",
  code: "M5.500 4L1.800 8l3.700 4M10.500 4l3.700 4-3.700 4",
  compare: "M5 2.500v11M11 2.500v11M2 5.500L5 2.500l3 3M8 10.500l3 3 3-3",
  link: "M6.500 9.500l3-3M7 4.500l1.500-1.500a3 3 0 0 1 4.500 4.500L11.500 9M9 11.500L7.500 13A3 3 0 0 1 3 8.500L4.500 7",
  expand: "M9.500 2.500h4v4M13.500 2.500l-4.500 4.500M6.500 13.500h-4v-4M2.500 13.500L7 9",
  pin: "M6 2.500h4l-.5 4 2 2.500h-7l2-2.500zM8 9v5",
  sample: "M6 2h4M6.800 2v4L2.800 13.500h10.400L9.200 6V2M5 10h6",
  server: "M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.01M5 11h.01",
} as const;

/** Name of an icon. */
export type IconName = keyof typeof ICONS;

/** Whether there is an icon of that name. */
export function isIcon(name: string | undefined): name is IconName {
  return name !== undefined && Object.hasOwn(ICONS, name);
}
