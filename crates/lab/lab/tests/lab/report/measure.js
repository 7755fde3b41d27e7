// Looks at the page in the frame and leaves what it saw in <html data-seen>.
const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const luminance = (color) => {
  const [r, g, b] = color.match(/[\d.]+/g).map((part) => channel(Number(part) / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};
const behind = (view, element) => {
  for (let at = element; at; at = at.parentElement) {
    const color = view.getComputedStyle(at).backgroundColor;
    if (!/, 0\)$/.test(color)) return color;
  }
  return 'rgb(255, 255, 255)';
};
// Texts of one axis that touch each other, and names of rows and the figures behind them.
const touching = (elements) => {
  const boxes = [...elements].map((element) => [element.textContent, element.getBoundingClientRect()]);
  const shown = boxes.filter(([text, box]) => text.trim() && box.width > 0);
  return shown.flatMap(([a, one], index) =>
    shown.slice(index + 1).filter(([, other]) => {
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      return across > 1 && down > 3;
    }).map(([b]) => `${a} and ${b}`));
};
const overlaps = (page) => {
  const charts = [...page.querySelectorAll('svg.axis, svg.chart')].map((chart) => chart.querySelectorAll('text'));
  const rows = [...page.querySelectorAll('.row')].map((row) => row.querySelectorAll('.who, .says > span'));
  return [...charts, ...rows].flatMap(touching).slice(0, 5);
};
const frame = document.querySelector('iframe');
frame.addEventListener('load', () => {
  const view = frame.contentWindow;
  const page = view.document;
  const root = page.documentElement;
  const all = [...page.body.querySelectorAll('*')];
  const scrolls = (element) => element.closest('.scroll, pre, .skip, .outlines');
  const wide = all.filter((element) => !scrolls(element) && element.getBoundingClientRect().right > view.innerWidth + 1);
  let least = { contrast: 99, faintest: '' };
  for (const element of all) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.closest('defs, title, desc') || !element.getClientRects().length) continue;
    const style = view.getComputedStyle(element);
    const ink = element instanceof view.SVGElement ? style.fill : style.color;
    const ratio = contrast(ink, behind(view, element));
    if (ratio < least.contrast) least = { contrast: ratio, faintest: element.textContent.slice(0, 40) };
  }
  const charts = [...page.querySelectorAll('svg.chart, svg.plot')].filter((chart) => chart.closest('details') === null);
  const hidden = (chart) => view.getComputedStyle(chart).display === 'none';
  document.documentElement.dataset.seen = JSON.stringify({
    width: view.innerWidth,
    scroll: root.scrollWidth,
    widest: wide.slice(0, 3).map((element) => `${element.tagName}.${element.getAttribute('class')}`).join(' '),
    height: root.scrollHeight,
    sections: [...page.querySelectorAll('section[id]')].map((section) => section.id),
    charts_without_size: charts.filter((chart) => !hidden(chart) && chart.getBoundingClientRect().width < 60).length,
    overlaps: overlaps(page),
    paper: view.getComputedStyle(page.body).backgroundColor,
    ...least,
  });
});
