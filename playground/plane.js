'use strict';
// The picture: a map of predictions, points, rings of the Gaussians, and where things are on the screen.

// Okabe and Ito: distinguishable with red-green colour blindness. The first two are those of the figures.
const COLOURS = [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233]];
const GREY = [128, 136, 146];
const colourOf = (action, classes) => action < classes ? COLOURS[action % COLOURS.length] : GREY;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// --- Gaussians: a mean, standard deviations along and across a direction
const covarianceOf = g => {
  const c = Math.cos(g.angle), s = Math.sin(g.angle), a = g.along ** 2, b = g.across ** 2;
  return [c * c * a + s * s * b, c * s * (a - b), c * s * (a - b), s * s * a + c * c * b];
};
const gaussianFrom = ({mean, covariance: [p, q, , r]}) => {
  const half = (p + r) / 2, spread = Math.hypot((p - r) / 2, q);
  return {
    mean: [...mean], covariance: [p, q, q, r],
    along: Math.sqrt(half + spread), across: Math.sqrt(Math.max(half - spread, 1e-9)),
    angle: spread < 1e-12 ? 0 : Math.atan2(2 * q, p - r) / 2,
  };
};
const asJson = g => ({mean: g.mean, covariance: g.covariance});
// The symmetric root of a covariance, and the Gaussian whose mean and root lie a share of the way from one to another:
// what figure 2 calls growing.
const rootOf = g => covarianceOf({angle: g.angle, along: Math.sqrt(g.along), across: Math.sqrt(g.across)});
const between = (one, other, share) => {
  const mix = (a, b) => a.map((v, i) => (1 - share) * v + share * b[i]);
  const [p, q, , r] = mix(rootOf(one), rootOf(other));
  return gaussianFrom({mean: mix(one.mean, other.mean), covariance: [p * p + q * q, q * (p + r), q * (p + r), q * q + r * r]});
};

class Plane {
  constructor(canvas) {
    this.canvas = canvas;
    this.area = [-4.5, 4.5, -4.5, 4.5];
  }
  // Shares of width and height, for elements above the canvas.
  share([x, y]) {
    const [left, right, bottom, top] = this.area;
    return [(x - left) / (right - left), (top - y) / (top - bottom)];
  }
  fromShare([u, v]) {
    const [left, right, bottom, top] = this.area;
    return [left + u * (right - left), top - v * (top - bottom)];
  }
  at(point) {
    const [u, v] = this.share(point);
    return [u * this.width, v * this.height];
  }

  draw(picture) {
    const scale = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.height * scale);
    const pen = this.pen = this.canvas.getContext('2d');
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.ink = css('--ink');
    this.halo = css('--halo');
    if (picture.map) this.drawMap(picture);
    this.drawAxes(picture.names);
    if (picture.boundary) this.drawBoundary(picture.boundary);
    if (picture.target) this.drawTarget(picture.target);
    if (picture.train) this.drawTrain(picture);
    for (const [gaussian, dash, name] of picture.rings || []) this.drawRings(gaussian, dash, name);
  }

  // The likeliest action of each cell; the paler, the less certain.
  drawMap({map, actions, classes}) {
    const cells = Math.round(Math.sqrt(map.length / actions));
    const image = new ImageData(cells, cells);
    for (let i = 0; i < cells * cells; ++i) {
      let best = 0;
      for (let a = 1; a < actions; ++a) if (map[i * actions + a] > map[i * actions + best]) best = a;
      const sure = Math.max(0, (map[i * actions + best] / 1000 - 1 / actions) / (1 - 1 / actions));
      const to = 4 * ((cells - 1 - Math.floor(i / cells)) * cells + i % cells);
      image.data.set([...colourOf(best, classes), Math.round(255 * 0.62 * sure)], to);
    }
    const small = document.createElement('canvas');
    small.width = small.height = cells;
    small.getContext('2d').putImageData(image, 0, 0);
    this.pen.imageSmoothingEnabled = true;
    this.pen.imageSmoothingQuality = 'high';
    this.pen.drawImage(small, 0, 0, this.width, this.height);
  }

  drawAxes(names) {
    const pen = this.pen;
    pen.fillStyle = css('--muted');
    pen.font = '12px system-ui, "DejaVu Sans", sans-serif';
    const ticks = (low, high) => {
      const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
      const list = [];
      for (let t = Math.ceil((low + 0.06 * (high - low)) / step) * step; t < high - 0.04 * (high - low); t += step) list.push(t);
      return list;
    };
    const text = t => String(+t.toPrecision(6));
    const [left, right, bottom, top] = this.area;
    pen.textAlign = 'center';
    for (const t of ticks(left, right)) pen.fillText(text(t), this.at([t, bottom])[0], this.height - 6);
    pen.textAlign = 'left';
    for (const t of ticks(bottom, top)) pen.fillText(text(t), 6, this.at([left, t])[1] + 4);
    pen.textAlign = 'right';
    pen.fillText(names[0], this.width - 8, this.height - 6);
    pen.textAlign = 'left';
    pen.fillText(names[1], 6, 16);
  }

  drawBoundary([b0, b1, b2]) {
    const pen = this.pen, [left, right, bottom, top] = this.area;
    const ends = Math.abs(b2) > Math.abs(b1)
      ? [[left, -(b0 + b1 * left) / b2], [right, -(b0 + b1 * right) / b2]]
      : [[-(b0 + b2 * bottom) / b1, bottom], [-(b0 + b2 * top) / b1, top]];
    pen.save();
    pen.strokeStyle = this.ink;
    pen.globalAlpha = 0.6;
    pen.lineWidth = 1.5;
    pen.setLineDash([2, 5]);
    pen.beginPath();
    pen.moveTo(...this.at(ends[0]));
    pen.lineTo(...this.at(ends[1]));
    pen.stroke();
    pen.restore();
  }

  drawTarget({x, y}) {
    const pen = this.pen;
    pen.fillStyle = this.ink;
    pen.globalAlpha = x.length > 1000 ? 0.15 : 0.35;
    for (let i = 0; i < x.length; ++i) {
      const [u, v] = this.at([x[i], y[i]]);
      pen.beginPath();
      pen.arc(u, v, 1.8, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  // Area in proportion to the weight: class 0 rings, class 1 crosses, others squares.
  drawTrain({train: {x, y, label, log_weight}, classes}) {
    const pen = this.pen, usual = Math.max(2.4, this.width / 150) * (x.length > 500 ? 0.6 : 1);
    pen.lineCap = 'round';
    for (let i = 0; i < x.length; ++i) {
      const [u, v] = this.at([x[i], y[i]]);
      const size = usual * Math.min(4, Math.max(0.5, Math.sqrt(Math.exp(log_weight[i]))));
      pen.beginPath();
      if (label[i] === 0) {
        pen.arc(u, v, size, 0, 2 * Math.PI);
      } else if (label[i] === 1) {
        pen.moveTo(u - size, v); pen.lineTo(u + size, v); pen.moveTo(u, v - size); pen.lineTo(u, v + size);
      } else {
        pen.rect(u - size, v - size, 2 * size, 2 * size);
      }
      pen.strokeStyle = this.halo;
      pen.lineWidth = 4;
      pen.stroke();
      const colour = colourOf(label[i], classes);
      pen.strokeStyle = `rgb(${document.documentElement.dataset.theme === 'dark'
        ? colour.map(c => Math.round(c + (255 - c) * 0.45)) : colour.map(c => Math.round(c * 0.8))})`;
      pen.lineWidth = 1.8;
      pen.stroke();
    }
  }

  drawRings(gaussian, dash, name) {
    const pen = this.pen, [u, v] = this.at(gaussian.mean);
    const [left, right] = this.area, unit = this.width / (right - left);
    for (const deviations of [1, 2]) {
      pen.beginPath();
      pen.ellipse(u, v, deviations * gaussian.along * unit, deviations * gaussian.across * unit, -gaussian.angle, 0, 2 * Math.PI);
      pen.setLineDash([]);
      pen.strokeStyle = this.halo;
      pen.globalAlpha = 0.6;
      pen.lineWidth = deviations === 2 ? 4.5 : 3;
      pen.stroke();
      pen.globalAlpha = 1;
      pen.setLineDash(dash);
      pen.strokeStyle = this.ink;
      pen.lineWidth = deviations === 2 ? 2 : 1;
      pen.stroke();
    }
    pen.setLineDash([]);
    pen.font = '600 13px system-ui, "DejaVu Sans", sans-serif';
    pen.textAlign = 'center';
    pen.lineWidth = 4;
    pen.strokeStyle = this.halo;
    pen.fillStyle = this.ink;
    // Above the outer ring, but in the picture.
    const height = 2 * unit * Math.hypot(gaussian.along * Math.sin(gaussian.angle), gaussian.across * Math.cos(gaussian.angle));
    const at = [Math.min(Math.max(u, 40), this.width - 40), Math.max(v - height - 8, 30)];
    pen.strokeText(name, ...at);
    pen.fillText(name, ...at);
  }
}
