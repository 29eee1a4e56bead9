// A heat map on a canvas: a column an interval, the newest on the right, latency rising upward; drawn whole each time
// on a canvas that is never emptied in between, so that nothing flickers.
const [CELL, ROW, LEFT, RIGHT] = [6, 13, 52, 60];
const SHADES = {
  blue: ["#cfe8ff", "#9fd0ff", "#6fb3f5", "#4292e0", "#1f6fc4", "#0b4a94"],
  red: ["#ffe08a", "#ffc14d", "#ff9f2e", "#f9772a", "#e44a22", "#b71c1c"],
};

// Two digits below ten, whole numbers above.
const figure = (value) => value > 0 && value < 10 ? Number(value.toPrecision(2)).toString() : Math.round(value).toString();

export class HeatMap {
  constructor(canvas, colours) {
    this.canvas = canvas;
    this.colours = SHADES[colours];
  }

  // How many columns fit.
  room() {
    return Math.max(10, Math.floor((this.canvas.parentElement.clientWidth - LEFT - RIGHT) / CELL));
  }

  // values: of each column a figure a bound, from the lowest, or null where it is unknown.
  draw(values, bounds) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.canvas.parentElement.clientWidth, ROW * (bounds.length + 1)];
    const sheet = document.createElement("canvas"); // what is shown changes in one step
    sheet.width = Math.round(width * ratio);
    sheet.height = Math.round(height * ratio);
    const pen = sheet.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    pen.fillStyle = style.backgroundColor;
    pen.fillRect(0, 0, width, height);
    const most = Math.max(0, ...values.filter(Boolean).flat());
    const right = width - RIGHT;
    values.forEach((column, number) => {
      const x = right - (values.length - number) * CELL;
      column?.forEach((value, row) => {
        if (value <= 0) return;
        pen.fillStyle = this.colours[Math.min(5, Math.ceil(6 * value / most) - 1)];
        pen.fillRect(x, (bounds.length - 1 - row) * ROW, CELL - 1, ROW - 1);
      });
    });
    pen.fillStyle = style.color;
    pen.font = "11px system-ui, sans-serif";
    const latest = values[values.length - 1];
    bounds.forEach((bound, row) => {
      const y = (bounds.length - 1 - row) * ROW + ROW - 3;
      pen.textAlign = "right";
      pen.fillText(bound, LEFT - 6, y);
      if (latest?.[row] > 0) pen.fillText(figure(latest[row]), width - 4, y);
    });
    pen.textAlign = "left";
    pen.fillText("ms", 4, height - 3);
    pen.textAlign = "right";
    pen.fillText("latest", width - 4, height - 3);
    if (this.canvas.width !== sheet.width || this.canvas.height !== sheet.height) {
      this.canvas.width = sheet.width;
      this.canvas.height = sheet.height;
      this.canvas.style.height = `${height}px`;
    }
    this.canvas.getContext("2d").drawImage(sheet, 0, 0);
    this.canvas.setAttribute("aria-label", `heat map of ${values.length} intervals, the largest figure is ${figure(most)}`);
  }
}
