package com.example;

import org.springframework.data.jpa.repository.JpaRepository;

interface Exports extends JpaRepository<Export, Long> {}
