package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// measurement contains all figures and the conditions under which they were measured.
type measurement struct {
	Started    time.Time `json:"started"`
	Short      bool      `json:"short"`
	Runs       int       `json:"runs"`
	CPUs       int       `json:"cpus"`
	Go         string    `json:"go"`
	Postgres   string    `json:"postgres"`
	FileSystem string    `json:"file_system"`
	Profiled   bool      `json:"profiled,omitempty"`
	Figures    []figure  `json:"figures"`
}

// add adds the figures of one run. The value of a figure with several runs is their median.
func (m *measurement) add(figures []figure) {
	for _, f := range figures {
		known := -1
		for i := range m.Figures {
			if m.Figures[i].Name == f.Name {
				known = i
			}
		}
		if known < 0 {
			f.Values = []float64{f.Value}
			m.Figures = append(m.Figures, f)
			continue
		}
		of := &m.Figures[known]
		of.Values = append(of.Values, f.Value)
		of.Value = median(of.Values)
	}
}

// write writes a measurement to a file, as JSON.
func (m *measurement) write(path string) error {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the figures: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}

// readMeasurement reads a file written by write.
func readMeasurement(path string) (*measurement, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read earlier figures: %w", err)
	}
	m := new(measurement)
	if err := json.Unmarshal(content, m); err != nil {
		return nil, fmt.Errorf("read earlier figures in %s: %w", path, err)
	}
	return m, nil
}
