package ui

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/models"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// modelCatalogue is a table of the models that can be asked for.
type modelCatalogue struct {
	object fyne.CanvasObject
	search *widget.Entry
	count  *widget.Label
	list   *widget.List
	all    []model.CatalogueRow
	shown  []model.CatalogueRow
	health []models.DeploymentHealth
}

// catalogueColumns are the columns' titles and their parts of the width.
func catalogueColumns() ([]string, []float32) {
	return []string{"Model", "Also called", "Label", "Tier", "Context", "Provider", "Health", "Cost"},
		[]float32{20, 13, 18, 11, 11, 12, 15, 13}
}

func newModelCatalogue() *modelCatalogue {
	c := &modelCatalogue{count: part.Muted("")}
	c.search = newSearch("Search models", c.update)
	c.list = widget.NewList(func() int { return len(c.shown) }, func() fyne.CanvasObject { return catalogueLine() },
		func(i widget.ListItemID, o fyne.CanvasObject) { c.setLine(o.(*fyne.Container), c.shown[i]) })
	c.list.OnSelected = func(widget.ListItemID) { c.list.UnselectAll() }
	titles, _ := catalogueColumns()
	head := catalogueLine()
	for i, title := range titles {
		label := head.Objects[i].(*widget.Label)
		label.TextStyle.Bold, label.SizeName = true, fynetheme.SizeNameCaptionText
		label.SetText(title)
	}
	finder := container.NewBorder(nil, nil, nil, container.NewGridWrap(fyne.NewSize(12*theme.Step, 36), c.count), c.search)
	c.object = container.NewBorder(container.NewVBox(part.Gap(0.5), finder, head, widget.NewSeparator()),
		part.Muted("Cost is in US dollars for a million tokens, in and out."), nil, nil, c.list)
	return c
}

func catalogueLine() *fyne.Container {
	titles, weights := catalogueColumns()
	line := container.New(&shares{weights: weights})
	for i := range titles {
		cell := widget.NewLabel("")
		cell.Truncation = fyne.TextTruncateEllipsis
		if i > 0 {
			cell.Importance, cell.SizeName = widget.LowImportance, fynetheme.SizeNameCaptionText
		}
		line.Add(cell)
	}
	return line
}

func (c *modelCatalogue) setLine(line *fyne.Container, row model.CatalogueRow) {
	health := model.ModelHealth(c.health, row.ID)
	for i, text := range []string{row.ID, strings.Join(row.Aliases, ", "), row.Label, row.Tier, row.Context(), row.Provider, health, row.Cost()} {
		line.Objects[i].(*widget.Label).SetText(text)
	}
}

func (c *modelCatalogue) set(all []model.CatalogueRow, health []models.DeploymentHealth) {
	c.all, c.health = all, health
	c.update()
}

func (c *modelCatalogue) update() {
	c.shown = model.FindModels(c.all, c.search.Text)
	c.count.SetText(fmt.Sprintf("%d of %d", len(c.shown), len(c.all)))
	c.list.Refresh()
}
